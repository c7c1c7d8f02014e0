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
const ANSWER_MS = 10_000;
const TRIES = 3;

/** Notified decisions about a recording being offline, oldest first. `url`: any replica. Throws without an answer. */
export async function readDecisionLog(url: string, recordingId: string, since: Instant): Promise<Logged[]> {
  const from = encodeURIComponent(new Date(since).toISOString());
  const path = `${url}/api/v1/recordings/${recordingId}/timeline?limit=1000&since=${from}`;
  return Timeline.parse(await answerOf(path)).items.flatMap(({ at, rule, integration, reason }) => {
    const to = /^team-(\d+)\/(slack|email)\//.exec(integration ?? "");
    if (!to || rule !== "RecordingOffline" || !NOTIFIED.has(reason)) return [];
    return [{ at, integration: `${to[2]}/${to[1]}`, reason }];
  });
}

/** A busy daemon answers late: without its log, a summary is attributed to the wrong recordings. */
async function answerOf(path: string, tries = TRIES): Promise<unknown> {
  try {
    const response = await fetch(path, { signal: AbortSignal.timeout(ANSWER_MS) });
    if (response.ok) return await response.json();
    throw new Error(`${path} answered ${response.status}`);
  } catch (thrown) {
    if (tries > 1) return answerOf(path, tries - 1);
    throw thrown;
  }
}
