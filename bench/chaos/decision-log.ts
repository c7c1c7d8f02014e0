/** Reads the daemon's decision log of a recording. */
import { z } from "zod";
import type { Instant } from "../../src/lib/clock.ts";
import type { Logged } from "./summaries.ts";

const Timeline = z.object({
  items: z.array(
    z.object({
      at: z.iso.datetime().transform((text) => Date.parse(text)),
      rule: z.string().nullable(),
      integration: z.string().nullable(),
      reason: z.string(),
    }),
  ),
});

const NOTIFIED = new Set(["notified", "notified_end", "notified_late", "reminded"]);
const ANSWER_MS = 5_000;

/** Notified decisions about a recording being offline, oldest first; empty without an answer. `url`: any replica. */
export async function readDecisionLog(url: string, recordingId: string, since: Instant): Promise<Logged[]> {
  const from = encodeURIComponent(new Date(since).toISOString());
  const path = `${url}/api/v1/recordings/${recordingId}/timeline?limit=1000&since=${from}`;
  const response = await fetch(path, { signal: AbortSignal.timeout(ANSWER_MS) }).catch(() => undefined);
  if (!response?.ok) return [];
  return Timeline.parse(await response.json()).items.flatMap(({ at, rule, integration, reason }) => {
    const to = /^team-(\d+)\/(slack|email)\//.exec(integration ?? "");
    if (!to || rule !== "RecordingOffline" || !NOTIFIED.has(reason)) return [];
    return [{ at, integration: `${to[2]}/${to[1]}`, reason }];
  });
}
