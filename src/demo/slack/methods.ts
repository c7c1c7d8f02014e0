/** The Web API's methods, with the errors that docs.slack.dev/reference/methods documents for each. */
import { limitError, metadataError } from "./limits.ts";
import type { SlackPost, StandInChannel, StandInMessage, Workspace } from "./workspace.ts";

/** Why `ok` is false, with what else the answer has. */
export class SlackRefusal extends Error {
  readonly details: Readonly<Record<string, unknown>>;

  constructor(error: string, details: Readonly<Record<string, unknown>> = {}) {
    super(error);
    this.details = details;
  }
}

export type Arguments = Readonly<Record<string, unknown>>;

export interface Ephemeral {
  readonly channel: string;
  readonly user: string;
  readonly text: string;
  readonly threadTs: string | undefined;
  readonly body: SlackPost;
}

interface MethodContext {
  readonly workspace: Workspace;
  readonly scopes: ReadonlySet<string>;
  posted(message: StandInMessage): void;
  edited(message: StandInMessage): void;
  ephemeral(message: Ephemeral): void;
  /** The address of a new connection of Socket Mode. */
  openSocket(): string;
}

interface Method {
  readonly token: "bot" | "app";
  /** Requests a minute (rate limit tiers); `perChannel` is a message a second in each channel, in short bursts. */
  readonly rate: number | "perChannel";
  call(args: Arguments, context: MethodContext): Readonly<Record<string, unknown>>;
}

export const slackIds = { team: "T000000001", bot: "B000000001", botUser: "U000000001", app: "A000000001" } as const;

export const methods: Record<string, Method> = {
  "auth.test": {
    token: "bot",
    rate: 100,
    call: () => ({
      team: "Stand-in",
      team_id: slackIds.team,
      user: "lenswatch",
      user_id: slackIds.botUser,
      bot_id: slackIds.bot,
    }),
  },
  "apps.connections.open": {
    token: "app",
    // Tier 1, with the bursts that Slack tolerates.
    rate: 10,
    call(_, { scopes, openSocket }) {
      need(scopes, "connections:write");
      return { url: openSocket() };
    },
  },
  "chat.postMessage": { token: "bot", rate: "perChannel", call: postMessage },
  "chat.update": { token: "bot", rate: 50, call: update },
  "chat.postEphemeral": { token: "bot", rate: 100, call: postEphemeral },
  "conversations.history": {
    token: "bot",
    rate: 50,
    call(args, context) {
      const channel = readable(args, context);
      const shown = channel.messages.flatMap((root) => [root, ...root.replies.filter((one) => one.isBroadcast)]);
      return page(
        args,
        shown.sort((a, b) => b.ts.localeCompare(a.ts)),
        999,
      );
    },
  },
  "conversations.replies": {
    token: "bot",
    rate: 50,
    call(args, context) {
      const channel = readable(args, context);
      const root = channel.messages.find(({ ts }) => ts === args.ts);
      if (!root) throw new SlackRefusal("thread_not_found");
      return page(args, [root, ...root.replies], 1_000, [root]);
    },
  },
  "users.conversations": {
    token: "bot",
    rate: 50,
    call(args, { workspace, scopes }) {
      const types = String(args.types ?? "public_channel").split(",");
      for (const type of types) need(scopes, type === "private_channel" ? "groups:read" : "channels:read");
      const mine = workspace.channels.filter(({ isMember, isPrivate, isArchived }) => {
        return (
          isMember &&
          types.includes(isPrivate ? "private_channel" : "public_channel") &&
          !(args.exclude_archived && isArchived)
        );
      });
      const channels = mine.map(({ id, name, isPrivate }) => ({ id, name, is_private: isPrivate, is_channel: true }));
      return { channels, response_metadata: { next_cursor: "" } };
    },
  },
};

function need(scopes: ReadonlySet<string>, scope: string): void {
  if (scopes.has(scope)) return;
  throw new SlackRefusal("missing_scope", { needed: scope, provided: [...scopes].join(",") });
}

/** A channel the bot sees; a name stands for it in chat.postMessage alone. */
function channelOf({ channel }: Arguments, { workspace }: MethodContext, byName = false): StandInChannel {
  const found = workspace.channel(String(channel ?? ""));
  const isSeen = found && (byName || found.id === channel) && (found.isMember || !found.isPrivate);
  if (!isSeen) throw new SlackRefusal("channel_not_found");
  return found;
}

function readable(args: Arguments, context: MethodContext): StandInChannel {
  const channel = channelOf(args, context);
  need(context.scopes, channel.isPrivate ? "groups:history" : "channels:history");
  if (!channel.isMember) throw new SlackRefusal("not_in_channel");
  return channel;
}

function writable(args: Arguments, context: MethodContext, byName: boolean): StandInChannel {
  need(context.scopes, "chat:write");
  const channel = channelOf(args, context, byName);
  if (channel.isArchived) throw new SlackRefusal("is_archived");
  if (!channel.isMember && !context.scopes.has("chat:write.public")) throw new SlackRefusal("not_in_channel");
  return channel;
}

function bodyOf({ text, blocks, attachments, metadata }: Arguments): SlackPost {
  const body = {
    ...(text !== undefined && { text: String(text) }),
    ...(blocks !== undefined && { blocks }),
    ...(attachments !== undefined && { attachments }),
    ...(metadata !== undefined && { metadata }),
  } as SlackPost;
  const error = (metadata === undefined ? undefined : metadataError(metadata)) ?? limitError(body);
  if (error !== undefined) throw new SlackRefusal(error);
  return body;
}

function postMessage(args: Arguments, context: MethodContext) {
  const channel = writable(args, context, true);
  const { thread_ts: threadTs, reply_broadcast: broadcast } = args;
  const at = { ...(threadTs !== undefined && { threadTs: String(threadTs) }), isBroadcast: isTrue(broadcast) };
  const message = context.workspace.post(channel, bodyOf(args), at);
  context.posted(message);
  return { channel: channel.id, ts: message.ts, message: shownAs(message, true) };
}

function update(args: Arguments, context: MethodContext) {
  const channel = writable(args, context, false);
  const message = context.workspace.message(channel, String(args.ts));
  if (!message || message.isDeleted) throw new SlackRefusal("message_not_found");
  if (message.by !== "bot") throw new SlackRefusal("cant_update_message");
  context.workspace.edit(message, bodyOf(args));
  context.edited(message);
  return { channel: channel.id, ts: message.ts, text: message.text };
}

function postEphemeral(args: Arguments, context: MethodContext) {
  const channel = writable(args, context, false);
  const [user, threadTs] = [String(args.user), args.thread_ts === undefined ? undefined : String(args.thread_ts)];
  const body = bodyOf(args);
  context.ephemeral({ channel: channel.id, user, threadTs, text: body.text ?? "", body });
  return { message_ts: `${Date.now() / 1_000}` };
}

function isTrue(value: unknown): boolean {
  return value === true || value === "true" || value === 1;
}

/** One page; `first` comes with each page of a thread, whatever the time range. */
function page(args: Arguments, all: readonly StandInMessage[], most: number, first: readonly StandInMessage[] = []) {
  const { oldest = "0", latest = "9999999999.999999", cursor = "" } = args as Record<string, string>;
  const inclusive = isTrue(args.inclusive);
  const within = ({ ts }: StandInMessage) =>
    (ts > oldest && ts < latest) || (inclusive && (ts === oldest || ts === latest));
  const wanted = all.filter((one) => within(one) && !first.includes(one));
  const at = cursor === "" ? 0 : Number(Buffer.from(String(cursor), "base64").toString());
  if (!Number.isInteger(at)) throw new SlackRefusal("invalid_cursor");
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
