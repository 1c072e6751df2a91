import { resolve } from "node:path";
import { systemClock } from "../base/clock.ts";
import { writeReview } from "../evidence/review.ts";
import type { Run } from "./command.ts";
import type { OPTIONS } from "./options.ts";

export const run: Run<typeof OPTIONS.review> = async ({ reportSha256, note, sign, json }, [subject = ""], io) => {
  const written = await writeReview({
    subject: resolve(io.cwd, subject),
    reportSha256,
    noteFile: resolve(io.cwd, note),
    key: sign === undefined ? null : resolve(io.cwd, sign),
    writtenAt: systemClock.wall(),
  });
  if (json) io.out(`${JSON.stringify(written)}\n`);
  else {
    io.out(`review ${written.path}\n`);
    if (written.signaturePath !== null) io.out(`signature ${written.signaturePath}\n`);
  }
  return 0;
};
