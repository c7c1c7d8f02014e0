/** What of a Slack app does not work, beyond posting: each as a sentence with the next step. */
import type { SlackAppSettings } from "../../config/slack-schema.ts";
import { toError } from "../../lib/errors.ts";
import type { createHistory } from "./history.ts";
import { createSlackApi, type SlackApi } from "./web-api.ts";

interface Tools {
  readonly api: SlackApi;
  readonly history: ReturnType<typeof createHistory>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Asks Slack what the tokens may do. Opens no connection and posts nothing. */
export async function diagnose({ apiBase, appToken }: SlackAppSettings, tools: Tools): Promise<string[]> {
  const { api, history, signal, timeoutMs } = tools;
  const problems = [await problemOf("A notification may be repeated", () => history.probe(signal))];
  if (appToken !== undefined) {
    const app = createSlackApi({ apiBase, token: appToken, key: "app_token", timeoutMs });
    const open = () => app.call(signal, (client) => client.apps.connections.open());
    problems.push(await problemOf("Buttons and slash commands do not work", open));
    problems.push(await problemOf("Slash commands do not work", () => needCommands(api, signal)));
    await app.close();
  }
  return problems.flat();
}

async function needCommands(api: SlackApi, signal: AbortSignal): Promise<void> {
  const { response_metadata: said } = await api.call(signal, (client) => client.auth.test());
  if (said?.scopes && !said.scopes.includes("commands")) {
    throw new Error("add the scope commands to the app and install it again.");
  }
}

async function problemOf(loss: string, probe: () => Promise<unknown>): Promise<string[]> {
  try {
    await probe();
    return [];
  } catch (thrown) {
    return [`${loss}: ${toError(thrown).message}`];
  }
}
