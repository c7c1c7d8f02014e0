/** The Web API's methods that the app calls, with the errors that docs.slack.dev/reference/methods documents for each. */
import type { SlackPost, StandInChannel, StandInMessage, Workspace } from "./workspace.ts";

/** Why `ok` is false: an error of Slack's, as its message. */
export class SlackRefusal extends Error {}

export type Arguments = Readonly<Record<string, unknown>>;

/** A message for one person; `threadTs`: where it is shown in a thread. */
export interface Ephemeral {
  readonly channel: string;
  readonly user: string;
  readonly text: string;
  readonly threadTs: string | undefined;
  readonly body: SlackPost;
}

interface MethodContext {
  readonly workspace: Workspace;
  posted(message: StandInMessage): void;
  edited(message: StandInMessage): void;
  ephemeral(message: Ephemeral): void;
  /** The address of a new connection of Socket Mode. */
  openSocket(): string;
}

type Method = (args: Arguments, context: MethodContext) => Readonly<Record<string, unknown>>;

export const slackIds = { team: "T000000001", bot: "B000000001", botUser: "U000000001", app: "A000000001" } as const;

export const methods: Readonly<Record<string, Method>> = {
  "auth.test": () => ({
    team: "Stand-in",
    team_id: slackIds.team,
    user: "lenswatch",
    user_id: slackIds.botUser,
    bot_id: slackIds.bot,
  }),
  "apps.connections.open": (_, { openSocket }) => ({ url: openSocket() }),
  "chat.postMessage"(args, context) {
    const channel = channelOf(args, context);
    const { thread_ts: threadTs, reply_broadcast: broadcast } = args;
    const at = { ...(threadTs !== undefined && { threadTs: String(threadTs) }), isBroadcast: isTrue(broadcast) };
    const message = context.workspace.post(channel, bodyOf(args), at);
    context.posted(message);
    return { channel: channel.id, ts: message.ts, message: shownAs(message, true) };
  },
  "chat.update"(args, context) {
    const channel = channelOf(args, context);
    const message = context.workspace.message(channel, String(args.ts));
    if (!message || message.isDeleted) throw new SlackRefusal("message_not_found");
    if (message.by !== "bot") throw new SlackRefusal("cant_update_message");
    context.workspace.edit(message, bodyOf(args));
    context.edited(message);
    return { channel: channel.id, ts: message.ts, text: message.text };
  },
  "chat.postEphemeral"(args, context) {
    const { id: channel } = channelOf(args, context);
    const threadTs = args.thread_ts === undefined ? undefined : String(args.thread_ts);
    const body = bodyOf(args);
    context.ephemeral({ channel, user: String(args.user), threadTs, text: body.text ?? "", body });
    return { message_ts: `${Date.now() / 1_000}` };
  },
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
  "conversations.members"(args, context) {
    const { members } = channelOf(args, context);
    const at = cursorOf(args);
    const limit = Number(args.limit ?? 100);
    const next_cursor = at + limit < members.length + 1 ? Buffer.from(String(at + limit)).toString("base64") : "";
    return { members: [slackIds.botUser, ...members].slice(at, at + limit), response_metadata: { next_cursor } };
  },
  "users.conversations": (_, { workspace }) => ({
    channels: workspace.channels.map(({ id, name }) => ({ id, name, is_private: false, is_channel: true })),
    response_metadata: { next_cursor: "" },
  }),
};

function channelOf({ channel }: Arguments, { workspace }: MethodContext): StandInChannel {
  const found = workspace.channel(String(channel ?? ""));
  if (!found) throw new SlackRefusal("channel_not_found");
  return found;
}

function bodyOf({ text, blocks, attachments, metadata }: Arguments): SlackPost {
  return {
    ...(text !== undefined && { text: String(text) }),
    ...(blocks !== undefined && { blocks }),
    ...(attachments !== undefined && { attachments }),
    ...(metadata !== undefined && { metadata }),
  } as SlackPost;
}

function isTrue(value: unknown): boolean {
  return value === true || value === "true" || value === 1;
}

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

function cursorOf({ cursor = "" }: Arguments): number {
  const at = cursor === "" ? 0 : Number(Buffer.from(String(cursor), "base64").toString());
  if (!Number.isInteger(at)) throw new SlackRefusal("invalid_cursor");
  return at;
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
