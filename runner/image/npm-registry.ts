import { execa } from "execa";

/** The npm registry that this host uses: the one its environment names, or npm's own setting; undefined where there is no npm. */
export async function npmRegistry(env: Readonly<Record<string, string | undefined>>): Promise<string | undefined> {
  const named = env.NPM_CONFIG_REGISTRY || env.npm_config_registry;
  if (named) return named;
  const asked = await execa("npm", ["config", "get", "registry"], { env, extendEnv: false, reject: false });
  return asked.failed ? undefined : asked.stdout.trim();
}
