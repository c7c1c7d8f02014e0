/** Open conversations, as a person who answers in one means them. What opens and closes them is in `groups.ts`. */
import type { Redis } from "ioredis";
import { coldStartGroup } from "../alerting/cold-start.ts";
import type { GroupHead } from "../alerting/group.ts";
import type { Whole } from "../alerting/model.ts";
import { DAY_MS, HOUR_MS, type Instant } from "../lib/clock.ts";
import type { Intent } from "./claim.ts";
import type { StoredEpisode } from "./episodes.ts";
import type { Keys } from "./keys.ts";
import { parseRead, type Write } from "./transact.ts";

/** The conversation that a message names. */
interface Asked {
  readonly group: string;
  readonly conversation: string;
}

interface OpenConversation {
  /** Undefined where that is not known. */
  readonly handle: string | undefined;
  /** True where its root is not edited while something in it fires: several groups share it. */
  readonly isShared: boolean;
  /** Notified there and not notified as resolved. */
  readonly episodes: ReadonlySet<string>;
}

const KEPT_MS = 90 * DAY_MS;

/** Groups share a conversation from now on, or episodes are of it; `key`: of their set. */
export function adding(key: string, members: readonly string[]): Write[] {
  if (members.length === 0) return [];
  return [
    ["SADD", key, ...members],
    ["PEXPIRE", key, KEPT_MS],
  ];
}

export function createConversationStore(
  redis: Redis,
  { notificationLog, talk, about, intent, group: groupKey }: Keys,
  { endedSince }: { endedSince(from: Instant): Promise<StoredEpisode[]> },
) {
  /** The conversation of a message whose acceptance is not stored yet. */
  async function intended(integration: string, id: string): Promise<OpenConversation | undefined> {
    const { text } = parseRead([intent(integration)], await redis.get(intent(integration)));
    if (text === undefined) return undefined;
    const { conversation, groups } = JSON.parse(text) as Intent;
    if (conversation?.id !== id) return undefined;
    const episodes = new Set(Object.values(groups).flatMap(({ firing }) => firing));
    return { handle: conversation.handle, isShared: conversation.groups !== undefined, episodes };
  }

  return {
    /** All that a conversation was about, with what its last message is about: read at its end. */
    async whole(integration: string, id: string, last: readonly string[]): Promise<Whole> {
      const key = about(integration, id);
      const ids = new Set([...(await redis.smembers(key)), ...last]);
      await redis.pexpire(key, DAY_MS);
      const from = [...ids].reduce(
        (first, one) => Math.min(first, Number(one.slice(one.lastIndexOf("@") + 1))),
        Infinity,
      );
      const all = ids.size === 0 ? [] : await endedSince(from - HOUR_MS);
      const ended = [...new Map(all.map((one) => [one.id, one])).values()].filter((one) => ids.has(one.id));
      return { ended, unknown: ids.size - ended.length };
    },

    /** The conversation of the group, or of all groups that share it. Undefined where it is closed, or not known. */
    async open(integration: string, { group, conversation: id }: Asked): Promise<OpenConversation | undefined> {
      // Before the heads: once it is stored there, it is written down here no more.
      const sent = await intended(integration, id);
      const sharing = await redis.smembers(talk(integration, id));
      const asked = (sharing.length > 0 ? sharing : [group]).map((one) => groupKey(integration, one));
      const heads = (await redis.mget(asked)).map((text, i) => parseRead([asked[i] ?? ""], text).text);
      const known = heads.flatMap((text) => (text ? ((JSON.parse(text) as GroupHead).conversation ?? []) : []));
      const conversation = known.find((one) => one.id === id);
      // Groups of the summary after a cold start begin conversations of their own.
      if (!conversation && group !== coldStartGroup) return sent;
      const notified = new Set(await redis.hkeys(notificationLog(integration)));
      const episodes = (await redis.smembers(about(integration, id))).filter((one) => notified.has(one));
      const isShared = conversation === undefined || conversation.groups !== undefined;
      return { handle: conversation?.handle, isShared, episodes: new Set(episodes) };
    },
  };
}
