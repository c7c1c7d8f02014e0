/** Webhooks, PagerDuty and the receivers of escalations, which accept what they are sent but for faults. */
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { startHttpSink } from "../../test/support/http-sink.ts";
import type { ReceiverFault } from "./action.ts";
import type { IncidentEvent } from "./audit-incidents.ts";
import { type Notice, readPayload } from "./notices.ts";

/** How long a webhook delays its answer while a process is killed. */
const AMBUSH_MS = 300;
const PATIENCE_MS = 15_000;

const Event = z.object({
  event_action: z.enum(["trigger", "acknowledge", "resolve"]),
  dedup_key: z.string(),
  payload: z.object({ summary: z.string(), source: z.string(), timestamp: z.string() }).optional(),
});

export type Receivers = Awaited<ReturnType<typeof startReceivers>>;

export async function startReceivers() {
  const sink = await startHttpSink();
  const notices: Notice[] = [];
  const events: IncidentEvent[] = [];
  const faults = new Map<string, ReceiverFault>();
  const waiting = new Set<() => void>();
  const faultOf = (integration: string) => [...faults].findLast(([name]) => integration.startsWith(name))?.[1];
  let accepted = 0;
  sink.respond(async (post) => {
    const integration = post.path.slice(1);
    const fault = faultOf(integration);
    if (fault === "hang" || (fault && "status" in fault)) return fault;
    accepted += 1;
    if (integration.startsWith("pagerduty/")) {
      const { event_action: action, dedup_key: key, payload } = Event.parse(JSON.parse(post.text));
      events.push({ at: post.receivedAt, integration, action, key, ...payload });
    } else notices.push(...readPayload(post, accepted));
    const isAmbushed = integration.startsWith("webhook/") && waiting.size > 0;
    if (isAmbushed) for (const resolve of waiting) resolve();
    if (fault?.afterMs === Number.POSITIVE_INFINITY) return "hang";
    if (fault || isAmbushed) await sleep(fault?.afterMs ?? AMBUSH_MS);
    return { status: 202 };
  });
  return {
    /** The alerts that webhooks and phones accepted, in order. */
    notices: notices as readonly Notice[],
    events: events as readonly IncidentEvent[],
    /** The address of `webhook/3`, `pagerduty/0`, …: its path is the name. */
    url: (integration: string) => `${sink.url}/${integration}`,
    accepted: () => accepted,
    /** Sets a fault of all integrations whose names begin so; the last one wins. */
    async fault(names: readonly string[], fault: ReceiverFault, lastsMs: number): Promise<void> {
      for (const name of names) faults.set(name, fault);
      await sleep(lastsMs);
      for (const name of names) if (faults.get(name) === fault) faults.delete(name);
    },
    clearFaults: () => faults.clear(),
    /** Resolves when a webhook accepts its next message, before it answers; after 15 s at the latest. */
    async nextAccepted(): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.add(resolve);
      await Promise.race([promise, sleep(PATIENCE_MS)]);
      waiting.delete(resolve);
    },
    close: sink.close,
  };
}
