/** Words of a BuildKit progress record (`moby.buildkit.trace`): names of steps and the lines they print. */
export function traceLines(aux: unknown): string[] {
  if (typeof aux !== "string") return [];
  const status = Buffer.from(aux, "base64");
  return fields(status).flatMap(({ number, bytes }) => {
    if (number === VERTEX) return vertexLines(bytes);
    if (number === LOG)
      return text(bytes, LOG_MESSAGE)
        .flatMap((message) => message.split(/\r?\n/))
        .filter((line) => line !== "");
    return [];
  });
}

// Field numbers of BuildKit's control.proto: StatusResponse, Vertex, VertexLog.
const VERTEX = 1;
const LOG = 3;
const VERTEX_NAME = 3;
const VERTEX_COMPLETED = 6;
const VERTEX_ERROR = 7;
const LOG_MESSAGE = 4;

function vertexLines(bytes: Buffer): string[] {
  const done = fields(bytes).some((field) => field.number === VERTEX_COMPLETED);
  return done ? text(bytes, VERTEX_ERROR) : text(bytes, VERTEX_NAME).map((name) => `step ${name}`);
}

function text(bytes: Buffer, number: number): string[] {
  return fields(bytes)
    .filter((field) => field.number === number)
    .map((field) => field.bytes.toString("utf8"));
}

interface Field {
  readonly number: number;
  readonly bytes: Buffer;
}

/** The length-delimited fields of a protobuf message; numbers are skipped, and a message that is cut short ends the list. */
function fields(message: Buffer): Field[] {
  const found: Field[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 1; at < message.length; shift *= 128) {
      const byte = message[at] ?? 0;
      at += 1;
      value += (byte & 0x7f) * shift;
      if (byte < 0x80) break;
    }
    return value;
  };
  while (at < message.length) {
    const key = varint();
    const [number, wire] = [Math.floor(key / 8), key % 8];
    if (wire === 0) varint();
    else if (wire === 1) at += 8;
    else if (wire === 5) at += 4;
    else if (wire === 2) {
      const length = varint();
      if (at + length > message.length) break;
      found.push({ number, bytes: message.subarray(at, at + length) });
      at += length;
    } else break;
  }
  return found;
}
