/** Opens a file in the browser of this machine. */
import { spawn } from "node:child_process";
import { pathToFileURL } from "node:url";

type Environment = Readonly<Record<string, string | undefined>>;

/** The programs that open a URL on the platform, tried in order. */
function openersOf(platform: NodeJS.Platform, env: Environment): readonly (readonly string[])[] {
  if (platform === "darwin") return [["open"]];
  if (platform === "win32") return [["rundll32", "url.dll,FileProtocolHandler"]];
  return [...(env.BROWSER ? [[env.BROWSER]] : []), ["xdg-open"]];
}

/** False where no browser can be started. The browser is detached. */
export async function openInBrowser(
  path: string,
  env: Environment,
  platform: NodeJS.Platform = process.platform,
): Promise<boolean> {
  const url = pathToFileURL(path).href;
  for (const [program = "", ...args] of openersOf(platform, env)) {
    if (await starts(program, [...args, url], env)) return true;
  }
  return false;
}

/** A program that exits with an error in this time has opened nothing. */
const FAILS_WITHIN_MS = 1_000;

function starts(program: string, args: readonly string[], env: Environment): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const child = spawn(program, args, { stdio: "ignore", detached: true, env: { ...env } });
  const timer = setTimeout(() => resolve(true), FAILS_WITHIN_MS);
  child.once("error", () => resolve(false));
  child.once("exit", (code) => resolve(code === 0));
  child.unref();
  return promise.finally(() => clearTimeout(timer));
}
