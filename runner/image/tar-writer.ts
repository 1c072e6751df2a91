import { once } from "node:events";
import { Readable } from "node:stream";
import { type Header, pack } from "tar-stream";

type PartialHeader = Partial<Header> & Pick<Header, "name">;

/** Writes one entry; resolves when the archive has taken it whole. */
export type WriteEntry = (header: PartialHeader, body: AsyncIterable<Uint8Array> | Uint8Array) => Promise<void>;

/** A tar archive as a stream; `write` puts its entries in, one after the other, while the stream is read. */
export function tarStream(write: (entry: WriteEntry) => Promise<void>): Readable {
  const packer = pack();
  const entry: WriteEntry = (header, body) =>
    new Promise<void>((done, failed) => {
      const finished = (error?: Error | null): void => (error ? failed(error) : done());
      if (body instanceof Uint8Array) {
        packer.entry(header, body, finished);
        return;
      }
      const sink = packer.entry(header, finished);
      const copy = async (): Promise<void> => {
        for await (const chunk of body) if (!sink.write(chunk)) await once(sink as unknown as EventTarget, "drain");
        sink.end(null);
      };
      copy().catch((thrown: Error) => {
        sink.destroy(thrown);
        failed(thrown);
      });
    });
  write(entry).then(
    () => packer.finalize(),
    (thrown: Error) => packer.destroy(thrown),
  );
  return Readable.from(packer as AsyncIterable<Uint8Array>, { objectMode: false });
}
