/** A workspace: channels, their messages, threads and every edit. */
import { type Clock, systemClock } from "../../lib/clock.ts";
import type { SlackBody, SlackMetadata } from "./message.ts";

export type SlackPost = SlackBody & { readonly metadata?: SlackMetadata };

/** A message as a reader sees it now. */
export interface StandInMessage extends SlackPost {
  readonly ts: string;
  readonly text: string;
  /** The channel's id. */
  readonly channel: string;
  /** The thread it is a reply in. */
  readonly threadTs: string | undefined;
  /** A reply that is shown in the channel as well. */
  readonly isBroadcast: boolean;
  /** `bot`, the id of a person, or that of another bot, which begins with B. */
  readonly by: string;
  readonly isDeleted: boolean;
  /** The message as posted, then as each edit left it. */
  readonly versions: SlackPost[];
  /** Oldest first. */
  replies: StandInMessage[];
}

export interface StandInChannel {
  readonly id: string;
  /** Without `#`. */
  readonly name: string;
  /** People, by their ids; the app is one more. */
  members: readonly string[];
  /** Roots, oldest first; a deleted one stays only as long as it has replies. */
  messages: StandInMessage[];
}

export type Workspace = ReturnType<typeof createWorkspace>;

/** Ids of people, who are in each channel at first. */
const PEOPLE = ["U0ANA", "U0BEN", "U0YOU"];

/** Channels by name, each with the bot in it. `keeps`: the most roots, replies of each and versions of each. */
export function createWorkspace(names: readonly string[], clock = systemClock, keeps = Number.POSITIVE_INFINITY) {
  const channels = names.map((name, i): StandInChannel => {
    const id = `C${String(i + 1).padStart(9, "0")}`;
    return { id, name: name.replace(/^#/, ""), members: PEOPLE, messages: [] };
  });
  const nextTs = timestamps(clock);

  return {
    channels,
    /** By id, by name, or by `#name`. */
    channel: (name: string): StandInChannel | undefined =>
      channels.find((one) => one.id === name || one.name === name.replace(/^#/, "")),
    /** A root or a reply, also of a deleted root with replies. */
    message(channel: StandInChannel, ts: string): StandInMessage | undefined {
      const root = rootOf(channel, ts);
      return root?.ts === ts ? root : root?.replies.find((one) => one.ts === ts);
    },
    /** A reply in `threadTs` where that thread exists; else a root: Slack does not refuse a reply to a deleted message. */
    post(channel: StandInChannel, body: SlackPost, at: { threadTs?: string; isBroadcast?: boolean; by?: string } = {}) {
      const thread = at.threadTs === undefined ? undefined : rootOf(channel, at.threadTs);
      const message: StandInMessage = {
        ...body,
        text: body.text ?? "",
        ts: nextTs(),
        channel: channel.id,
        threadTs: thread?.ts,
        isBroadcast: thread !== undefined && at.isBroadcast === true,
        by: at.by ?? "bot",
        isDeleted: false,
        versions: [body],
        replies: [],
      };
      const list = thread?.replies ?? channel.messages;
      if (list.push(message) > keeps) list.shift();
      return message;
    },
    /** `attachments` and `metadata` stay where they are not given, blocks where no text is (docs.slack.dev: chat.update). */
    edit(message: StandInMessage, change: SlackPost): void {
      const { text, blocks, attachments, metadata } = message;
      const kept = change.text === undefined ? { text, ...(blocks && { blocks }) } : { blocks: [] };
      const next = { ...(attachments && { attachments }), ...(metadata && { metadata }), ...kept, ...change };
      Object.assign(message, next);
      const { versions } = message;
      if (versions.push(next) > keeps) versions.splice(1, 1);
    },
  };
}

/** Seconds with six decimals, no two alike. */
function timestamps(clock: Clock): () => string {
  let latest = 0;
  return () => {
    latest = Math.max(latest + 1, clock.now() * 1_000);
    return `${Math.floor(latest / 1e6)}.${String(latest % 1e6).padStart(6, "0")}`;
  };
}

function rootOf(channel: StandInChannel, ts: string): StandInMessage | undefined {
  return channel.messages.find((root) => root.ts === ts || root.replies.some((one) => one.ts === ts));
}
