/** The members of channels (docs.slack.dev, conversations.members), each remembered for a while. */
import { z } from "zod";
import type { Clock, Instant } from "../../lib/clock.ts";
import { pages } from "./pages.ts";
import type { SlackApi } from "./web-api.ts";

/** Somebody who was there may have left; somebody who was not may have joined in order to press. */
const THERE_MS = 60_000;
const NOT_THERE_MS = 2_000;
const REMEMBERED = 1_000;

/** Nobody is known to be in a larger channel. */
const SIZE = { limit: 1_000, most: 20 };

const Members = z.array(z.string());

export function createMembers(api: SlackApi, clock: Clock) {
  const known = new Map<string, { readonly isThere: boolean; readonly until: Instant }>();

  return {
    /** Throws NotifyError where Slack does not say. */
    async has(channel: string, user: string, signal: AbortSignal): Promise<boolean> {
      const key = `${channel} ${user}`;
      const before = known.get(key);
      if (before && clock.now() < before.until) return before.isThere;
      let isThere = false;
      for await (const { members } of pages(api, signal, "conversations.members", { channel }, SIZE)) {
        isThere = Members.safeParse(members).data?.includes(user) ?? false;
        if (isThere) break;
      }
      known.delete(key);
      known.set(key, { isThere, until: clock.now() + (isThere ? THERE_MS : NOT_THERE_MS) });
      const [oldest = ""] = known.keys();
      if (known.size > REMEMBERED) known.delete(oldest);
      return isThere;
    },
  };
}
