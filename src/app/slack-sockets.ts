/** The sockets over which Slack sends presses: one for each app token, as long as it is configured. */
import { z } from "zod";
import type { SlackAppSettings } from "../config/slack-schema.ts";
import type { SlackEnvelope } from "../notify/slack/envelope.ts";
import { createMembers } from "../notify/slack/members.ts";
import { sectionBlock } from "../notify/slack/render.ts";
import { SlackSocket, slackSocketAddress } from "../notify/slack/socket.ts";
import { createSlackApi, type SlackApi } from "../notify/slack/web-api.ts";
import type { Runtime } from "./runtime.ts";
import type { Setup } from "./setup.ts";
import { type Addressee, type AnswerBlock, SlackActions, type SlackIntegration } from "./slack-actions.ts";

const CALL_MS = 10_000;

const Team = z.object({ team_id: z.string().min(1).max(64) });

type App = SlackAppSettings & { readonly appToken: string };

/** The workspace as one bot token knows it. */
interface Bot {
  readonly api: SlackApi;
  readonly members: ReturnType<typeof createMembers>;
  team?: Promise<string> | undefined;
}

export class SlackSockets {
  readonly #runtime: Pick<Runtime, "clock" | "log" | "store" | "audit" | "metrics">;
  readonly #sockets = new Map<string, { readonly socket: SlackSocket; readonly api: SlackApi }>();
  readonly #connected = new Map<string, boolean>();
  readonly #apis = new Map<string, Bot>();
  #setup: Setup | undefined;
  #closing: Promise<void> | undefined;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** Opens those of `setup` that are not open yet, and closes the others; none where `isOn` is false. */
  follow(setup: Setup, isOn: boolean): void {
    this.#setup = setup;
    const apps = isOn && !this.#closing ? integrationsOf(setup).map(({ app }) => app) : [];
    const wanted = new Map(apps.map((app) => [keyOf(app, app.appToken), app]));
    for (const key of this.#sockets.keys()) if (!wanted.has(key)) void this.#close(key);
    for (const [key, app] of wanted) if (!this.#sockets.has(key)) this.#open(key, app);
    this.#runtime.metrics.slackSocket(wanted.size === 0 ? undefined : !this.isDown());
  }

  /** True while buttons do not work though they are configured. */
  isDown(): boolean {
    return [...this.#connected.values()].includes(false);
  }

  /** For ever; the second call returns the first one's promise. */
  close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  async #closeAll(): Promise<void> {
    await Promise.all([...this.#sockets.keys()].map((key) => this.#close(key)));
    await Promise.all([...this.#apis.values()].map(({ api }) => api.close()));
    this.#apis.clear();
  }

  #open(key: string, app: App): void {
    const { log, metrics } = this.#runtime;
    const api = createSlackApi({ apiBase: app.apiBase, token: app.appToken, key: "app_token", timeoutMs: CALL_MS });
    const socket = new SlackSocket({
      log,
      async open(signal) {
        const answer = await api.call(signal, "apps.connections.open");
        return slackSocketAddress(answer, app.apiBase);
      },
      act: (envelope, appId) => this.#act(key, envelope, appId),
      connected: (isConnected) => {
        this.#connected.set(key, isConnected);
        metrics.slackSocket(!this.isDown());
      },
    });
    this.#sockets.set(key, { socket, api });
  }

  async #close(key: string): Promise<void> {
    const { socket, api } = this.#sockets.get(key) ?? {};
    this.#sockets.delete(key);
    this.#connected.delete(key);
    await socket?.close();
    await api?.close();
  }

  /** With the setup at work now. */
  async #act(key: string, envelope: SlackEnvelope, appId: string | undefined): Promise<void> {
    const setup = this.#setup;
    if (!setup) return;
    const { engine, config } = setup;
    const actions = new SlackActions({
      ...this.#runtime,
      integrations: integrationsOf(setup).filter(({ app }) => keyOf(app, app.appToken) === key),
      changes: engine.changes,
      externalUrl: config.http.externalUrl,
      timezone: config.display.timezone,
      active: () => engine.notify.suppression.ofAll(),
      teamOf: (app) => this.#teamOf(app),
      isMember: (app, channel, user) => this.#apiOf(app).members.has(channel, user, new AbortController().signal),
      tell: (app, to, text, below) => this.#tell(app, to, text, below),
    });
    await actions.act(envelope, appId);
  }

  #apiOf({ apiBase, botToken }: SlackAppSettings): Bot {
    const key = `${apiBase}\n${botToken}`;
    const known = this.#apis.get(key);
    if (known) return known;
    const api = createSlackApi({ apiBase, token: botToken, timeoutMs: CALL_MS });
    const bot = { api, members: createMembers(api, this.#runtime.clock) };
    this.#apis.set(key, bot);
    return bot;
  }

  async #teamOf(app: SlackAppSettings): Promise<string> {
    const known = this.#apiOf(app);
    known.team ??= known.api
      .call(new AbortController().signal, "auth.test")
      .then((answer) => Team.parse(answer).team_id);
    return known.team.catch((thrown: unknown) => {
      known.team = undefined;
      throw thrown;
    });
  }

  async #tell(app: SlackAppSettings, to: Addressee, text: string, below: readonly AnswerBlock[] = []): Promise<void> {
    const { signal } = new AbortController();
    const method = "user" in to ? "chat.postEphemeral" : "chat.postMessage";
    const body = { ...to, text, ...(below.length > 0 && { blocks: [sectionBlock(text), ...below] }) };
    await this.#apiOf(app).api.call(signal, method, body);
  }
}

function keyOf({ apiBase }: SlackAppSettings, appToken: string): string {
  return `${apiBase}\n${appToken}`;
}

/** The integrations with an app token, by the ids they are stored under. */
function integrationsOf({ config, senders }: Setup): (SlackIntegration & { readonly app: App })[] {
  return config.receivers.flatMap((receiver) =>
    receiver.slack.flatMap(({ app }, i) => {
      const id = senders.list.find(({ name }) => name === `${receiver.name}/slack/${i}`)?.id;
      return app?.appToken !== undefined && id !== undefined ? [{ id, app: { ...app, appToken: app.appToken } }] : [];
    }),
  );
}
