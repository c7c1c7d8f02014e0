/** The Web API's methods that read channels, which the demo does without (docs.slack.dev/reference/methods). */
import {
  type Arguments,
  channelOf,
  cursorOf,
  isTrue,
  type Method,
  SlackRefusal,
  slackIds,
} from "../../../src/demo/slack/methods.ts";
import type { StandInMessage } from "../../../src/demo/slack/workspace.ts";

export const readingMethods: Readonly<Record<string, Method>> = {
  "conversations.history"(args, context) {
    const { messages } = channelOf(args, context);
    const shown = messages.flatMap((root) => [root, ...root.replies.filter((one) => one.isBroadcast)]);
    shown.sort((a, b) => b.ts.localeCompare(a.ts));
    return page(args, shown, 999);
  },
  "conversations.replies"(args, context) {
    const root = channelOf(args, context).messages.find(({ ts }) => ts === args.ts);
    if (!root) throw new SlackRefusal("thread_not_found");
    return page(args, [root, ...root.replies], 1_000, [root]);
  },
  "users.conversations": (_, { workspace }) => ({
    channels: workspace.channels.map(({ id, name }) => ({ id, name, is_private: false, is_channel: true })),
    response_metadata: { next_cursor: "" },
  }),
};

/** One page; `first` comes with each page of a thread, whatever the time range. */
function page(args: Arguments, all: readonly StandInMessage[], most: number, first: readonly StandInMessage[] = []) {
  const { oldest = "0", latest = "9999999999.999999" } = args as Record<string, string>;
  const inclusive = isTrue(args.inclusive);
  const within = ({ ts }: StandInMessage) =>
    (ts > oldest && ts < latest) || (inclusive && (ts === oldest || ts === latest));
  const wanted = all.filter((one) => within(one) && !first.includes(one));
  const at = cursorOf(args);
  const limit = Math.min(Number(args.limit ?? 100), most);
  const next = at + limit < wanted.length ? Buffer.from(String(at + limit)).toString("base64") : "";
  const messages = [...first, ...wanted.slice(at, at + limit)].map((one) =>
    shownAs(one, isTrue(args.include_all_metadata)),
  );
  return { messages, has_more: next !== "", response_metadata: { next_cursor: next } };
}

/** A message as the API shows it. */
function shownAs(message: StandInMessage, withMetadata: boolean): Record<string, unknown> {
  const { ts, text, blocks, attachments, metadata, threadTs, isBroadcast, isDeleted, by, replies, versions } = message;
  const thread = threadTs ?? (replies.length > 0 ? ts : undefined);
  return {
    type: "message",
    ts,
    text,
    ...(by === "bot"
      ? { bot_id: slackIds.bot, app_id: slackIds.app, user: slackIds.botUser }
      : { [by.startsWith("B") ? "bot_id" : "user"]: by }),
    ...(blocks && { blocks }),
    ...(attachments && { attachments }),
    ...(withMetadata && metadata && { metadata }),
    ...(thread !== undefined && { thread_ts: thread }),
    ...(replies.length > 0 && { reply_count: replies.length }),
    ...(isBroadcast && { subtype: "thread_broadcast" }),
    ...(isDeleted && { subtype: "tombstone" }),
    ...(versions.length > 1 && { edited: { user: slackIds.botUser, ts } }),
  };
}
