/** The history of a channel: posts are recognised by the metadata that each carries. */
import { z } from "zod";
import type { Conversation, FoundPost, Notification } from "../../alerting/model.ts";
import type { Instant } from "../../lib/clock.ts";
import type { Logger } from "../../lib/log.ts";
import { type Notifier, NotifyError } from "../notifier.ts";
import { formatHandle, type Handle, parseHandle } from "./handle.ts";
import { allPages, type Page } from "./pages.ts";
import type { SlackApi } from "./web-api.ts";

const EVENT_TYPE = "lenswatch_notification";

/** Values are texts: Slack documents lists of mappings alone. */
export function metadataOf({ messageId, conversation, trace }: Notification) {
  const ids = { notification_id: messageId, conversation_id: conversation?.id ?? "" };
  return { event_type: EVENT_TYPE, event_payload: { ...ids, alerts: trace.join(" ") } };
}

const Post = z.object({
  ts: z.string(),
  thread_ts: z.string().optional(),
  bot_id: z.string(),
  metadata: z.object({
    event_type: z.literal(EVENT_TYPE),
    event_payload: z.object({ notification_id: z.string(), conversation_id: z.string() }),
  }),
});

const Tombstone = z.object({ subtype: z.literal("tombstone") });

export function createHistory({ api, channel, log }: { api: SlackApi; channel: string; log: Logger }) {
  let channelId = channel.startsWith("#") ? undefined : channel;
  let hasWarned = false;
  const windows = new WeakMap<AbortSignal, ReturnType<typeof windowOf>>();

  async function idOf(signal: AbortSignal): Promise<string | undefined> {
    channelId ??= await channelNamed(api, channel, signal);
    return channelId;
  }

  /** Asked once for all conversations that are looked for together, which have one signal. */
  function readWindow(id: string, oldest: string, signal: AbortSignal) {
    const reading = windows.get(signal) ?? windowOf(api, { channel: id, oldest, include_all_metadata: true }, signal);
    windows.set(signal, reading);
    return reading;
  }

  async function postsOf(conversation: Pick<Conversation, "id" | "handle">, since: Instant, signal: AbortSignal) {
    const root = parseHandle(conversation.handle);
    const id = root?.channel ?? (await idOf(signal));
    if (id === undefined) return undefined;
    const { bot, args, shown } = await readWindow(id, (since / 1_000).toFixed(6), signal);
    const thread = root?.ts === undefined ? [] : await repliesTo(api, { ...args, ts: root.ts }, signal);
    return [...shown, ...thread]
      .flatMap(({ messages = [] }) => messages.flatMap((one) => Post.safeParse(one).data ?? []))
      .filter((one) => one.bot_id === bot && one.metadata.event_payload.conversation_id === conversation.id)
      .sort((a, b) => Number(a.ts) - Number(b.ts))
      .map((post) => foundPost(post, id, channel));
  }

  const find: NonNullable<Notifier["find"]> = async (conversation, since, { signal }) => {
    try {
      const posts = await postsOf(conversation, since, signal);
      // A broadcast reply is in the channel and in its thread.
      return posts && [...new Map(posts.map((post) => [post.notificationId, post])).values()];
    } catch (thrown) {
      const code = codeOf(thrown);
      if (code !== "auth" && code !== "not_found") throw thrown;
      const message = "Slack's history cannot be read: a notification may be repeated";
      if (!hasWarned) log.warn({ channel, err: thrown }, message);
      hasWarned = true;
      return undefined;
    }
  };

  return {
    find,
    /** True where somebody deleted the root of a thread, of which a tombstone is left while the thread has replies. */
    async isDeleted({ channel, ts }: Pick<Handle, "channel" | "ts">, signal: AbortSignal): Promise<boolean> {
      const { messages } = await api.call(signal, "conversations.replies", { channel, ts, limit: 1 });
      return z.tuple([Tombstone], z.unknown()).safeParse(messages).success;
    },
    /** Throws where the channel cannot be searched. */
    async probe(signal: AbortSignal): Promise<void> {
      const posts = await postsOf({ id: "" }, Date.now(), signal);
      if (!posts) throw new Error(`invite the app in ${channel}: /invite @lenswatch.`);
    },
    /** Undefined for a name of a channel that the app is not in. */
    channelId: idOf,
    /** The id of the channel, as an answer had it. */
    learn(id: string): void {
      channelId = id;
    },
  };
}

async function channelNamed(api: SlackApi, channel: string, signal: AbortSignal): Promise<string | undefined> {
  const types = "public_channel,private_channel";
  const mine = await allPages(api, signal, "users.conversations", { types, exclude_archived: true });
  const named = z.array(z.object({ id: z.string(), name: z.string() }));
  const found = mine.flatMap(({ channels = [] }) => named.safeParse(channels).data ?? []);
  return found.find(({ name }) => `#${name}` === channel)?.id;
}

async function windowOf(api: SlackApi, args: object, signal: AbortSignal) {
  const { bot_id: bot } = await api.call(signal, "auth.test");
  return { bot, args, shown: await allPages(api, signal, "conversations.history", args) };
}

/** None where the root was deleted: what was to be a reply is a message of the channel then. */
function repliesTo(api: SlackApi, args: object, signal: AbortSignal): Promise<Page[]> {
  return allPages(api, signal, "conversations.replies", args).catch((thrown: unknown) => {
    if (codeOf(thrown) === "conversation_gone") return [];
    throw thrown;
  });
}

function foundPost({ ts, thread_ts, metadata }: z.infer<typeof Post>, channel: string, of: string): FoundPost {
  const handle = formatHandle({ channel, ts: thread_ts ?? ts, of });
  return { handle, notificationId: metadata.event_payload.notification_id };
}

function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof NotifyError ? thrown.code : undefined;
}
