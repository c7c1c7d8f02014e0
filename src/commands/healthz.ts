/** `healthz`: asks the daemon on this machine for its health; a container's health check without curl or a shell. */
import { Command } from "commander";
import { Agent, fetch } from "undici";
import { configFile, likelyListeners } from "../config/load.ts";
import { withTimeout } from "../lib/abort.ts";
import { toError } from "../lib/errors.ts";
import { asJson, type CommandIo, type ConfigOptions, fail, readsConfig } from "./cli/command.ts";
import { localUrl } from "./cli/daemon.ts";

const TIMEOUT_MS = 4_000;

/**
 * Exit code 0 healthy, 1 unhealthy, 3 no answer. A configuration that the daemon would refuse is no problem: it serves for
 * the address only, and a daemon keeps the one it has loaded.
 */
export function healthzCommand(io: CommandIo): Command {
  const command = new Command("healthz").description(
    "Check the health of the daemon at http.listen on this machine, for container health checks.",
  );
  return readsConfig(command, "lenswatch healthz && echo healthy").action(async (options: ConfigOptions) => {
    const urls = await likelyUrls(configFile(options.config, io.env), io.env);
    const { url, status } = await firstAnswer(urls, withTimeout(io.signal, TIMEOUT_MS));
    const alive = typeof status === "number" && status < 300;
    if (options.output === "json") io.stdout.write(asJson({ url, alive }));
    else if (alive) io.stdout.write("alive\n");
    if (alive) return;
    const answer = typeof status === "number" ? `answers ${status}` : `does not answer (${status.message})`;
    fail(io, typeof status === "number" ? 1 : 3, `${url} ${answer}; see the daemon's log`);
  });
}

async function likelyUrls(file: string, env: CommandIo["env"]): Promise<string[]> {
  const { addresses, mayUseTls } = await likelyListeners(file, env);
  const urls = addresses.map((address) => `${localUrl(address)}/healthz`);
  const schemes = mayUseTls ? ["https:", "http:"] : ["http:"];
  return [...new Set(urls)].flatMap((url) => schemes.map((scheme) => url.replace("http:", scheme)));
}

type Answer = { readonly url: string; readonly status: number | Error };

/** The first URL that answers, else the first of them with its error. */
async function firstAnswer(urls: readonly string[], signal: AbortSignal): Promise<Answer> {
  // Nothing secret is sent, and the certificate is for another name than this machine's address.
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  try {
    let first: Answer | undefined;
    for (const url of urls) {
      const answer = { url, status: await ask(url, dispatcher, signal) };
      if (typeof answer.status === "number") return answer;
      first ??= answer;
    }
    return first ?? { url: "", status: new Error("no address") };
  } finally {
    await dispatcher.destroy();
  }
}

async function ask(url: string, dispatcher: Agent, signal: AbortSignal): Promise<number | Error> {
  try {
    const response = await fetch(url, { signal, dispatcher });
    await response.body?.cancel();
    return response.status;
  } catch (thrown) {
    return toError(toError(thrown).cause ?? thrown);
  }
}
