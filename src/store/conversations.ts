/** Open conversations, as a person who answers in one means them. What opens and closes them is in `groups.ts`. */
import type { Redis } from "ioredis";
import type { Conversation } from "../alerting/conversation.ts";
import type { NotificationLogEntry } from "../alerting/notification.ts";
import type { Keys } from "./keys.ts";
import { pipelined } from "./redis.ts";

interface OpenConversation {
  readonly conversation: Conversation;
  /** Notified there and not notified as resolved. */
  readonly episodes: ReadonlySet<string>;
}

export function createConversationStore(redis: Redis, { prefix, notificationLog }: Keys) {
  return {
    /** Of the group, or of all groups that share it. Undefined once it is closed. */
    async open(integration: string, group: string, id: string): Promise<OpenConversation | undefined> {
      const sharing = await redis.smembers(`${prefix}talk:${integration}:${id}`);
      const asked = sharing.length > 0 ? sharing : [group];
      const texts = await pipelined<string | null>(redis, (batch) => {
        for (const one of asked) batch.hget(`${prefix}grp:${integration}:${one}`, "conversation");
      });
      const known = texts.map((text) => (text ? (JSON.parse(text) as Conversation) : undefined));
      const groups = new Set(asked.filter((_, i) => known[i]?.id === id));
      const conversation = known.find((one) => one?.id === id);
      if (!conversation) return undefined;
      // Not by the group that an entry names: a reload may have grouped its alert otherwise since.
      const members = await pipelined<string[]>(redis, (batch) => {
        for (const one of groups) batch.smembers(`${prefix}mem:${integration}:${one}`);
      });
      const ids = new Set(members.flat());
      const entries = await redis.hvals(notificationLog(integration));
      const notified = entries.map((text) => JSON.parse(text) as NotificationLogEntry);
      const own = notified.filter(({ alert, endNotifiedAt }) => ids.has(alert.id) && endNotifiedAt === undefined);
      return { conversation, episodes: new Set(own.map(({ alert }) => alert.id)) };
    },
  };
}
