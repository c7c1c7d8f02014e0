/** PagerDuty and the receivers that are escalated to, which accept what they are sent but for faults. */
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { type HttpReply, startHttpSink } from "../../test/support/http-sink.ts";
import type { Escalated, IncidentEvent } from "./audit-incidents.ts";

/** `accepted_unanswered`: taken, and the connection hangs. */
export type IncidentFault = HttpReply | "accepted_unanswered";

const Event = z.object({
  event_action: z.enum(["trigger", "acknowledge", "resolve"]),
  dedup_key: z.string(),
  payload: z.object({ summary: z.string(), source: z.string() }).optional(),
});
const Message = z.object({
  alerts: z.array(
    z.object({
      status: z.enum(["firing", "resolved"]),
      labels: z.object({ alertname: z.string(), recording_id: z.string() }),
      startsAt: z.string(),
    }),
  ),
});

export type Incidents = Awaited<ReturnType<typeof startIncidents>>;

export async function startIncidents() {
  const sink = await startHttpSink();
  const events: IncidentEvent[] = [];
  const escalated: Escalated[] = [];
  let fault: IncidentFault | undefined;
  let message = 2e6;
  sink.respond(({ path, text, receivedAt: at }) => {
    if (typeof fault === "object") return fault;
    const [, kind = "", receiver = ""] = path.split("/");
    const integration = `${kind}/${receiver}`;
    message += 1;
    if (kind === "pagerduty") {
      const { event_action: action, dedup_key: key, payload } = Event.parse(JSON.parse(text));
      events.push({ at, integration, action, key, ...payload });
    } else {
      for (const { status, labels, startsAt } of Message.parse(JSON.parse(text)).alerts) {
        const { alertname: rule, recording_id: recordingId } = labels;
        escalated.push({ at, integration, message, status, rule, recordingId, startsAt: Date.parse(startsAt) });
      }
    }
    return fault === undefined ? { status: 202 } : "hang";
  });
  return {
    events: events as readonly IncidentEvent[],
    escalated: escalated as readonly Escalated[],
    pagerduty: (receiver: number) => ({ routing_key: "r".repeat(32), url: `${sink.url}/pagerduty/${receiver}` }),
    phone: (receiver: number) => ({ url: `${sink.url}/phone/${receiver}` }),
    async fault(answer: IncidentFault, lastsMs: number): Promise<void> {
      fault = answer;
      await sleep(lastsMs);
      if (fault === answer) fault = undefined;
    },
    clearFaults(): void {
      fault = undefined;
    },
    close: sink.close,
  };
}
