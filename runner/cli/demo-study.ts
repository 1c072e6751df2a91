/** The study that runs when none is named, relative to the runner's folder. */
export const DEMO_STUDY = "benchmarks/config/demo.json";
