import { join } from "node:path";
import { isFile, readText } from "../files.ts";
import type { EnvironmentSpec, Task } from "../model.ts";
import { externalImages, isPinned, parseDockerfile } from "./dockerfile.ts";
import type { Found } from "./finding.ts";

/** What a site uses instead of a reference; undefined when it uses the reference itself. */
export type MapImage = (reference: string) => string | undefined;

/** Checks that every image a task is built from binds bytes, and that a verifier's image holds its tests. */
export async function checkImages(task: Task, mapImage: MapImage): Promise<readonly Found[]> {
  const environments = new Map<string, EnvironmentSpec>([["environment", task.environment]]);
  for (const step of task.steps) {
    const { environment } = step.verifier;
    if (environment !== null)
      environments.set(
        task.multiStep ? `steps.${step.name}.verifier.environment` : "verifier.environment",
        environment,
      );
  }
  const found = new Map<string, Found>();
  for (const [key, environment] of environments) {
    for (const finding of await checkEnvironment(task, key, environment, mapImage))
      found.set(JSON.stringify(finding), finding);
  }
  for (const step of task.steps) {
    const image = step.verifier.environment?.image;
    if (step.verifier.mode !== "separate" || step.verifier.tests !== "baked" || image === undefined) continue;
    const finding = await checkBakedTests(image);
    if (finding !== null) found.set(JSON.stringify(finding), finding);
  }
  return [...found.values()];
}

async function checkEnvironment(
  task: Task,
  key: string,
  environment: EnvironmentSpec,
  mapImage: MapImage,
): Promise<readonly Found[]> {
  const { image } = environment;
  if (image.kind === "image")
    return unpinned(image.reference, join(task.dir, "task.toml"), null, `${key}.docker_image`, mapImage);
  if (image.kind !== "dockerfile") return [];
  const file = join(image.context, "Dockerfile");
  const text = await readText(file);
  if (text === null) return [];
  return externalImages(text).flatMap(({ reference, line }) => unpinned(reference, file, line, "the base", mapImage));
}

function unpinned(
  reference: string,
  file: string,
  line: number | null,
  what: string,
  mapImage: MapImage,
): readonly Found[] {
  const used = mapImage(reference) ?? reference;
  if (isPinned(used)) return [];
  return [
    {
      level: "error",
      rule: "unpinned-base",
      file,
      line,
      message: `${what} ${JSON.stringify(used)} has no digest: another push changes the task without a change of its files`,
      hint: "Write NAME@sha256:DIGEST, or build on one of the project's own images.",
    },
  ];
}

async function checkBakedTests(image: EnvironmentSpec["image"]): Promise<Found | null> {
  if (image.kind === "image") {
    return {
      level: "warning",
      rule: "verifier-image-without-tests",
      file: null,
      line: null,
      message: `the task has no test script, so the verifier's image ${image.reference} must hold /tests/test.sh itself`,
      hint: "Put tests/test.sh into the task, unless the image is known to hold it.",
    };
  }
  if (image.kind !== "dockerfile") return null;
  const file = join(image.context, "Dockerfile");
  const text = (await isFile(file)) ? await readText(file) : null;
  if (text === null || parseDockerfile(text).some(({ keyword }) => keyword === "COPY" || keyword === "ADD"))
    return null;
  return {
    level: "error",
    rule: "verifier-image-without-tests",
    file,
    line: null,
    message:
      "the verifier's image copies nothing from tests/, so it holds no /tests/test.sh and no reward can be written",
    hint: "Add COPY . /tests/ to the Dockerfile.",
  };
}
