import { createHash } from "node:crypto";
import { uniformFloat64 } from "pure-rand/distribution/uniformFloat64";
import { uniformInt } from "pure-rand/distribution/uniformInt";
import { xoroshiro128plusFromState } from "pure-rand/generator/xoroshiro128plus";

/** A deterministic source of random numbers; the same seed gives the same sequence on every machine. */
export interface Random {
  /** A 32-bit signed integer, uniform. */
  next(): number;
  /** A number in [0, 1), uniform, 53 bits. */
  uniform(): number;
  /** An integer in [0, `size`), uniform; `size` is a positive safe integer. */
  below(size: number): number;
}

/**
 * A generator (xoroshiro128+) whose whole state is the hash of `seed`, so that neighbouring seeds give unrelated sequences. The seed
 * belongs in the record of whatever was drawn.
 */
export function seededRandom(seed: string | number): Random {
  const hash = createHash("sha256").update(`seed:${seed}`).digest();
  const generator = xoroshiro128plusFromState([0, 4, 8, 12].map((offset) => hash.readInt32BE(offset)));
  return {
    next: () => generator.next(),
    uniform: () => uniformFloat64(generator),
    below: (size) => uniformInt(generator, 0, size - 1),
  };
}

/** Shuffles a copy of `items` (Fisher and Yates), every order equally likely. */
export function shuffled<T>(items: readonly T[], random: Random): T[] {
  const copy = [...items];
  for (let last = copy.length - 1; last > 0; last -= 1) {
    const chosen = random.below(last + 1);
    const moved = copy.splice(chosen, 1, ...copy.slice(last, last + 1));
    copy.splice(last, 1, ...moved);
  }
  return copy;
}
