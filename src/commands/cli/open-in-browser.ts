/** Hands a file to the browser of whoever sits at this machine. */
import { spawn } from "node:child_process";
import { pathToFileURL } from "node:url";

type Environment = Readonly<Record<string, string | undefined>>;

/** What opens a URL here, tried in turn. */
function openersOf(platform: NodeJS.Platform, env: Environment): readonly (readonly string[])[] {
  if (platform === "darwin") return [["open"]];
  if (platform === "win32") return [["rundll32", "url.dll,FileProtocolHandler"]];
  return [...(env.BROWSER ? [[env.BROWSER]] : []), ["xdg-open"]];
}

/** False where there is no browser to be had. It goes on running by itself. */
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

/** A program that ends at once with an error has opened nothing. */
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
