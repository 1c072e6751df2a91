/**
 * Bytes that a trial's record may spend on the names of what was found in containers, over all its steps: well below what a reader takes of
 * a record, because an agent that makes many long names must not make a record that nobody reads.
 */
const TRIAL_BYTES = 36 * 1024 ** 2;
/** Log folders, declared artifacts, and what the verifier left: each has room of its own, however much the others take. */
const KINDS = 3;

/** What is left for the names of one kind. */
export interface Room {
  bytes: number;
}

/** The room for one kind of names in one of a trial's steps. */
export function roomFor(steps: number): Room {
  return { bytes: Math.floor(TRIAL_BYTES / KINDS / Math.max(1, steps)) };
}

/** Takes an entry's place in the record out of the room; false when there was not enough left, now and from then on. */
export function takesRoom(room: Room, entry: unknown): boolean {
  room.bytes -= Buffer.byteLength(JSON.stringify(entry));
  return room.bytes >= 0;
}
