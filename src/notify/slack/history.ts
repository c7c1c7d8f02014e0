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

/** `bot`: whose posts are ours. */
type Asking = { readonly bot: unknown; readonly signal: AbortSignal };

export function createHistory({ api, channel, log }: { api: SlackApi; channel: string; log: Logger }) {
  let channelId = channel.startsWith("#") ? undefined : channel;
  let hasWarned = false;

  async function idOf(signal: AbortSignal): Promise<string | undefined> {
    channelId ??= await channelNamed(api, channel, signal);
    return channelId;
  }

  /** Ours, in the channel and in the thread of the newest root. */
  async function postsOf(conversation: Pick<Conversation, "id" | "handle">, since: Instant, { bot, signal }: Asking) {
    const root = parseHandle(conversation.handle);
    const id = root?.channel ?? (await idOf(signal));
    if (id === undefined) {
      const message = `invite the app in ${channel}: /invite @lenswatch.`;
      throw new NotifyError("not_found", message, { retryable: true, scope: "integration" });
    }
    const args = { channel: id, oldest: (since / 1_000).toFixed(6), include_all_metadata: true };
    const oursIn = (pages: readonly Page[]) =>
      pages
        .flatMap(({ messages = [] }) => messages.flatMap((one) => Post.safeParse(one).data ?? []))
        .filter((one) => one.bot_id === bot && one.metadata.event_payload.conversation_id === conversation.id)
        .sort((a, b) => Number(a.ts) - Number(b.ts));
    const shown = oursIn(await allPages(api, signal, "conversations.history", args));
    const newest = shown.at(-1);
    const ts = newest?.thread_ts ?? newest?.ts ?? root?.ts;
    // Only below their root are plain replies found.
    const thread = ts === undefined ? [] : oursIn(await repliesTo(api, { ...args, ts }, signal));
    return [...shown, ...thread].map((post) => foundPost(post, id, channel));
  }

  /** Throws where the token is refused, or the app not in the channel: nothing can be posted either then. */
  const find: NonNullable<Notifier["find"]> = async (conversation, since, { signal }) => {
    const { bot_id: bot } = await api.call(signal, "auth.test");
    try {
      const posts = await postsOf(conversation, since, { bot, signal });
      // A broadcast reply is in the channel and in its thread.
      return [...new Map(posts.map((post) => [post.notificationId, post])).values()];
    } catch (thrown) {
      if (codeOf(thrown) !== "auth") throw thrown;
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
      const { bot_id: bot } = await api.call(signal, "auth.test");
      await postsOf({ id: "" }, Date.now(), { bot, signal });
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
