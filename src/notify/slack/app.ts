/**
 * The Slack app: a conversation is a root message, edited to the present, and its thread. News is a post, never an edit
 * alone; each post carries in its metadata what it is news of.
 */
import type { Notification, NotifyErrorCode, Posted } from "../../alerting/model.ts";
import type { SlackAppSettings } from "../../config/slack-schema.ts";
import { toError } from "../../lib/errors.ts";
import { type ChannelOptions, type Notifier, NotifyError } from "../notifier.ts";
import { renderReply, renderRoot } from "./conversation.ts";
import { formatHandle, type Handle, handleOf, parseHandle } from "./handle.ts";
import { createHistory, metadataOf } from "./history.ts";
import { payloadOf } from "./render.ts";
import { createSlackApi, type SlackApi } from "./web-api.ts";

/** The rest of a send is left to the news. */
const EDIT_DEADLINE_MS = 3_000;

/** A notifier for one channel; no error and no log line has its tokens. */
export function createSlackAppNotifier(options: ChannelOptions & { readonly app: SlackAppSettings }): Notifier {
  const { app, timeoutMs, log } = options;
  const api = createSlackApi({ apiBase: app.apiBase, token: app.botToken, timeoutMs });
  const actions = app.actions !== undefined;
  const history = createHistory({ api, channel: app.channel, log });

  async function post(notification: Notification, root: Handle | undefined, { signal, plain }: Sending) {
    // An end and a question are for those who follow the thread.
    const isNews = root === undefined || !["resolved", "question"].includes(notification.reason);
    const mention = isNews && !plain ? mentionsOf(notification, app.mention) : "";
    const thread = root && { channel: root.channel, thread_ts: root.ts, reply_broadcast: isNews };
    const metadata = metadataOf(notification);
    const body = root
      ? renderReply(notification, { plain, mention, actions: actions && notification.reason === "question" })
      : renderRoot(notification, { plain, mention, actions });
    const message = { channel: app.channel, ...thread, ...body, metadata };
    const answer = await api.call(signal, "chat.postMessage", message).catch((thrown: unknown) => {
      throw root && isOf(thrown, "not_found") ? gone(thrown) : thrown;
    });
    // Slack posts a reply to a deleted message as a message of its own, which is the root from now on.
    const handle = handleOf(answer);
    if (handle) history.learn(handle.channel);
    return handle && { ...handle, of: app.channel };
  }

  async function edit(notification: Notification, root: Handle, { signal, plain }: Sending): Promise<void> {
    const { channel, ts } = root;
    const present = renderRoot(notification, { plain, actions });
    // Without `parse`, an edit would read names in plain text as mentions, which a post does not.
    const body = { blocks: [], attachments: [], ...present, parse: "none", channel, ts };
    await api.call(signal, "chat.update", body);
  }

  /**
   * An edit goes first: news below a root that was deleted would be below what is left of it. The root of a summary says
   * when it was true, as one of its groups does not know the others: only whether it was deleted is asked. None delays the news.
   */
  async function isEditLost(notification: Notification, root: Handle, { signal, plain }: Sending): Promise<boolean> {
    const { groups, isOver = false } = notification.conversation ?? {};
    const soon = AbortSignal.any([signal, AbortSignal.timeout(EDIT_DEADLINE_MS)]);
    try {
      if (groups === undefined || isOver) await edit(notification, root, { signal: soon, plain });
      else if (await history.isDeleted(root, soon)) throw gone();
      return false;
    } catch (thrown) {
      if (isOf(thrown, "conversation_gone")) throw thrown;
      return groups === undefined || isOver;
    }
  }

  return {
    async post(document, { signal }) {
      await api.call(signal, "chat.postMessage", { channel: app.channel, ...payloadOf(document) });
    },
    async send(notification, { signal, plain = false }): Promise<Posted | undefined> {
      const root = parseHandle(notification.conversation?.handle);
      if (notification.reason === "update") {
        if (root?.ts !== undefined) await edit(notification, root, { signal, plain });
        return undefined;
      }
      const isHere = root?.ts !== undefined && (root.of ?? app.channel) === app.channel;
      const known = isHere ? root : undefined;
      const isNews = notification.reason !== "question";
      const isStale = known && isNews && (await isEditLost(notification, known, { signal, plain }));
      const next = await post(notification, known, { signal, plain });
      log.debug({ integration: notification.integrationId }, "Slack accepted a notification");
      return next && { handle: formatHandle(next), ...(isStale && { isStale }) };
    },
    find: history.find,
    diagnose: ({ signal }) => diagnose(app, { api, history, timeoutMs, signal }),
    close: api.close,
  };
}

type Sending = { readonly signal: AbortSignal; readonly plain: boolean };

function isOf(thrown: unknown, code: NotifyErrorCode): boolean {
  return thrown instanceof NotifyError && thrown.code === code;
}

/** The root is, or its channel: a new one is opened in the channel that is configured. */
function gone(cause?: unknown): NotifyError {
  const message = "The root of the conversation or its channel is gone: a new one is opened.";
  return new NotifyError("conversation_gone", message, { retryable: true, scope: "message", cause });
}

/** Markup, each once; empty for a notification that mentions nobody. A reminder is about everything that fires. */
function mentionsOf({ reason, firing }: Notification, mention: SlackAppSettings["mention"]): string {
  const alerts = reason === "reminder" ? firing : firing.filter(({ isNew }) => isNew);
  const severities = new Set(alerts.map(({ labels }) => labels.severity));
  const whom = mention.filter(({ severity }) => severities.has(severity)).map(({ who }) => who);
  return [...new Set(whom)].join(" ");
}

interface Tools {
  readonly api: SlackApi;
  readonly history: ReturnType<typeof createHistory>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Asks Slack what the tokens may do. Opens no connection and posts nothing. */
export async function diagnose(settings: SlackAppSettings, tools: Tools): Promise<string[]> {
  const { apiBase, appToken } = settings;
  const { history, signal, timeoutMs } = tools;
  const problems = [await problemOf("A notification may be repeated", () => history.probe(signal))];
  if (appToken !== undefined) {
    const app = createSlackApi({ apiBase, token: appToken, key: "app_token", timeoutMs });
    const open = () => app.call(signal, "apps.connections.open");
    problems.push(await problemOf("Buttons do not work", open));
    problems.push(await problemOf(WITHOUT_MEMBERS, () => readMembers(settings, tools)));
    await app.close();
  }
  return problems.flat();
}

const WITHOUT_MEMBERS = "Buttons refuse everybody but the people listed in actions.allow";

async function readMembers({ channel: name }: SlackAppSettings, { api, history, signal }: Tools): Promise<void> {
  const channel = await history.channelId(signal);
  if (channel === undefined) throw new Error(`invite the app in ${name}: /invite @lenswatch.`);
  await api.call(signal, "conversations.members", { channel, limit: 1 });
}

async function problemOf(loss: string, probe: () => Promise<unknown>): Promise<string[]> {
  try {
    await probe();
    return [];
  } catch (thrown) {
    return [`${loss}: ${toError(thrown).message}`];
  }
}
