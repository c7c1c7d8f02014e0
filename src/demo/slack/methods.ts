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

export interface MethodContext {
  readonly workspace: Workspace;
  posted(message: StandInMessage): void;
  edited(message: StandInMessage): void;
  ephemeral(message: Ephemeral): void;
  /** The address of a new connection of Socket Mode. */
  openSocket(): string;
}

export type Method = (args: Arguments, context: MethodContext) => Readonly<Record<string, unknown>>;

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
    return {
      channel: channel.id,
      ts: message.ts,
      message: { ts: message.ts, text: message.text, thread_ts: message.threadTs },
    };
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
  "conversations.members"(args, context) {
    const { members } = channelOf(args, context);
    const at = cursorOf(args);
    const limit = Number(args.limit ?? 100);
    const next_cursor = at + limit < members.length + 1 ? Buffer.from(String(at + limit)).toString("base64") : "";
    return { members: [slackIds.botUser, ...members].slice(at, at + limit), response_metadata: { next_cursor } };
  },
};

export function channelOf({ channel }: Arguments, { workspace }: MethodContext): StandInChannel {
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

export function isTrue(value: unknown): boolean {
  return value === true || value === "true" || value === 1;
}

export function cursorOf({ cursor = "" }: Arguments): number {
  const at = cursor === "" ? 0 : Number(Buffer.from(String(cursor), "base64").toString());
  if (!Number.isInteger(at)) throw new SlackRefusal("invalid_cursor");
  return at;
}
