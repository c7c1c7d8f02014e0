/**
 * A client that silences and acknowledges through any replica that answers. It retries until it gets an answer, and
 * knows only the latest start and end of what it requested.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { Instant } from "../../src/lib/clock.ts";
import { ADMIN_TOKEN } from "./config-text.ts";
import type { KnownSuppression } from "./suppressions.ts";

const ANSWER_MS = 3_000;
const ASK_AGAIN_MS = 250;

export interface Operator {
  /** Creates a silence; resolves with its known times once it is answered or over. */
  silence(
    by: { readonly label: "recording_id" | "location_id"; readonly id: string },
    recordingIds: readonly string[],
    times: { readonly lastsMs: number; readonly endAfterMs: number | undefined },
  ): Promise<KnownSuppression>;
  /** Acknowledges the firing alert of a recording, and withdraws that; undefined where there is none. */
  acknowledge(recordingId: string, endAfterMs: number | undefined): Promise<KnownSuppression | undefined>;
}

const Alerts = z.array(z.object({ fingerprint: z.string() }));
const Silences = z.array(z.object({ id: z.string(), comment: z.string(), status: z.object({ state: z.string() }) }));

const NEVER = Number.POSITIVE_INFINITY;

/** `urls`: the running replicas. */
export function createOperator(urls: () => readonly string[]): Operator {
  let turn = 0;

  async function ask(method: string, path: string, body?: unknown): Promise<unknown> {
    const all = urls();
    const url = all[turn++ % Math.max(1, all.length)];
    if (url === undefined) throw new Error("no replica is there");
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
      signal: AbortSignal.timeout(ANSWER_MS),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    const text = await response.text();
    return text === "" ? undefined : JSON.parse(text);
  }

  /** Retries until an answer; undefined where `until` has passed. */
  async function retryUntil<T>(work: () => Promise<T>, until: Instant): Promise<T | undefined> {
    while (Date.now() < until) {
      try {
        return await work();
      } catch {
        await sleep(ASK_AGAIN_MS);
      }
    }
    return undefined;
  }

  async function endSilence(comment: string): Promise<true> {
    const all = Silences.parse(await ask("GET", "/api/v2/silences?expired=false"));
    const own = all.filter((one) => one.comment === comment);
    for (const { id } of own) await ask("DELETE", `/api/v2/silence/${id}`);
    return true;
  }

  return {
    async silence({ label, id }, recordingIds, { lastsMs, endAfterMs }) {
      const comment = randomUUID();
      const maybeFrom = Date.now();
      const endsAt = maybeFrom + lastsMs;
      const wanted = {
        matchers: [{ name: label, value: id, isRegex: false, isEqual: true }],
        startsAt: new Date(maybeFrom).toISOString(),
        endsAt: new Date(endsAt).toISOString(),
        createdBy: "chaos",
        comment,
      };
      let asked = 0;
      const post = () => {
        asked++;
        return ask("POST", "/api/v2/silences", wanted);
      };
      const answered = await retryUntil(post, endsAt);
      const surelyFrom = answered === undefined ? NEVER : Date.now();
      const suppressions = { kind: "silence", recordingIds, maybeFrom, surelyFrom } as const;
      if (endAfterMs === undefined) return { ...suppressions, surelyUntil: endsAt, maybeUntil: endsAt };
      await sleep(Math.max(0, maybeFrom + endAfterMs - Date.now()));
      const surelyUntil = Math.min(endsAt, Date.now());
      await retryUntil(() => endSilence(comment), endsAt);
      // A request that timed out may still have been applied.
      return { ...suppressions, surelyUntil, maybeUntil: asked > 1 ? endsAt : Math.min(endsAt, Date.now()) };
    },

    async acknowledge(recordingId, endAfterMs) {
      const filter = encodeURIComponent(`recording_id="${recordingId}"`);
      const until = Date.now() + ANSWER_MS;
      const found = await retryUntil(() => ask("GET", `/api/v2/alerts?filter=${filter}`), until);
      const [alert] = Alerts.safeParse(found).data ?? [];
      if (!alert) return undefined;
      const maybeFrom = Date.now();
      const path = `/api/v1/alerts/${alert.fingerprint}/ack`;
      const answered = await retryUntil(() => ask("POST", path, { author: "chaos" }), maybeFrom + ANSWER_MS);
      const surelyFrom = answered === undefined ? NEVER : Date.now();
      const common = { kind: "ack", recordingIds: [recordingId], maybeFrom, surelyFrom } as const;
      if (endAfterMs === undefined) return { ...common, surelyUntil: NEVER, maybeUntil: NEVER };
      await sleep(endAfterMs);
      const surelyUntil = Date.now();
      // One that is over, or was taken over by a press, is refused.
      const withdrawn = await retryUntil(() => ask("DELETE", path).then(() => true), surelyUntil + ANSWER_MS);
      return { ...common, surelyUntil, maybeUntil: withdrawn ? Date.now() : NEVER };
    },
  };
}
