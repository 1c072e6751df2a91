import type { Normalizers } from "../../base/formats/cassette.ts";
import { pointerSteps } from "../../base/formats/json-access.ts";
import { plainJson } from "../../base/formats/plain-json.ts";
import type { ExactJson, Json } from "../../base/json.ts";

/** Brings a request's body into the form in which a cassette compares it. */
export type Normalise = (body: ExactJson) => Json;

/** Prepares a cassette's normalizers. Invalid expressions throw a SyntaxError. */
export function makeNormalise(normalizers: Normalizers): Normalise {
  const drops = normalizers.drop.map(pointerSteps);
  const replacements = normalizers.replace.map(({ pattern, with: by }) => ({ pattern: new RegExp(pattern, "gu"), by }));
  const replaceAll = (text: string) =>
    replacements.reduce((current, { pattern, by }) => current.replace(pattern, by), text);
  return (body) => mapStrings(drops.reduce(without, plainJson(body)), replaceAll);
}

function without(value: Json, [step, ...rest]: readonly string[]): Json {
  if (step === undefined || typeof value !== "object" || value === null) return value;
  const last = rest.length === 0;
  if (isList(value)) {
    return value.flatMap((member, index) => {
      if (step !== "*" && step !== String(index)) return [member];
      return last ? [] : [without(member, rest)];
    });
  }
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]): [string, Json][] => {
      if (step !== "*" && step !== key) return [[key, member]];
      return last ? [] : [[key, without(member, rest)]];
    }),
  );
}

function mapStrings(value: Json, change: (text: string) => string): Json {
  if (typeof value === "string") return change(value);
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) return value.map((member) => mapStrings(member, change));
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, mapStrings(member, change)]));
}

function isList(value: object): value is readonly Json[] {
  return Array.isArray(value);
}
