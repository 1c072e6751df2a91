import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { digestBytes } from "../../../runner/base/digest.ts";
import { readPlanFolder, writePlanFolder } from "../../../runner/study/plan-folder.ts";
import type { RunRequest } from "../../../runner/study/run-request.ts";
import { recordedPlan } from "../../support/bundles.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "plan-folder-"));
});
afterEach(() => rm(dir, { recursive: true }));

async function written() {
  const study = join(dir, "the study.json");
  await writeFile(study, "the study's own bytes\n");
  const request: RunRequest = {
    ...{ study, tasks: ["task-a"], repetitions: 2, replay: null, agent: null, model: null, reasoningEffort: null },
    ...{ record: null, imageMap: [{ from: "debian:13", to: "base" }], buildNetwork: "none", cwd: dir },
  };
  const plan = { ...(await recordedPlan(["task-a"], 2)), studyDigest: digestBytes("the study's own bytes\n") };
  const folder = join(dir, "plan");
  return { folder, plan, request, digest: await writePlanFolder(folder, plan, request) };
}

test("a plan's folder holds the plan, what it was made from and the study's own bytes; its digest is that of its file", async () => {
  const { folder, plan, request, digest } = await written();
  expect((await readdir(folder)).sort()).toEqual(["plan.json", "request.json", "study.json"]);
  const bytes = await readFile(join(folder, "plan.json"));
  expect(digest).toBe(`sha256:${createHash("sha256").update(bytes).digest("hex")}`);
  expect(await readFile(join(folder, "study.json"), "utf8")).toBe("the study's own bytes\n");
  expect(await readPlanFolder(folder)).toEqual({ plan, request, digest });
  expect(await readPlanFolder(join(folder, "plan.json"))).toEqual({ plan, request, digest });
});

test("a plan is written once, and only from the study's bytes as they are", async () => {
  const { folder, plan, request } = await written();
  await expect(writePlanFolder(folder, plan, request)).rejects.toMatchObject({ code: "OUT_NOT_EMPTY" });
  await writeFile(request.study, "other bytes\n");
  await expect(writePlanFolder(join(dir, "again"), plan, request)).rejects.toMatchObject({ code: "STUDY_CHANGED" });
});

test("a plan that was edited, or is not there, is refused by its file", async () => {
  const { folder } = await written();
  const file = join(folder, "plan.json");
  const text = await readFile(file, "utf8");
  await writeFile(file, `${text}\n`);
  await expect(readPlanFolder(folder)).rejects.toMatchObject({ code: "PLAN_NOT_CANONICAL" });
  await writeFile(file, text.replace('"seed":7', '"seed":"7"'));
  await expect(readPlanFolder(folder)).rejects.toMatchObject({ code: "INPUT_INVALID" });
  await expect(readPlanFolder(join(dir, "absent"))).rejects.toMatchObject({
    code: "PLAN_MISSING",
    message: `${join(dir, "absent")} does not exist`,
  });
});
