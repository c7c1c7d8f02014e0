/** PagerDuty and the receivers of escalations and of groups, which accept what they are sent but for faults. */
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { type HttpReply, startHttpSink } from "../../test/support/http-sink.ts";
import type { GroupLine } from "./audit-groups.ts";
import type { Escalated, IncidentEvent } from "./audit-incidents.ts";

/** `accepted_unanswered`: taken, and the connection hangs. */
export type IncidentFault = HttpReply | "accepted_unanswered";

const Event = z.object({
  event_action: z.enum(["trigger", "acknowledge", "resolve"]),
  dedup_key: z.string(),
  payload: z.object({ summary: z.string(), source: z.string(), timestamp: z.string() }).optional(),
});
const Message = z.object({
  alerts: z.array(
    z.object({
      status: z.enum(["firing", "resolved"]),
      labels: z.object({
        alertname: z.string(),
        recording_id: z.string().default(""),
        camera_server: z.string().default(""),
      }),
      startsAt: z.string(),
    }),
  ),
});

export type Incidents = Awaited<ReturnType<typeof startIncidents>>;

export async function startIncidents() {
  const sink = await startHttpSink();
  const events: IncidentEvent[] = [];
  const escalated: Escalated[] = [];
  const groups: GroupLine[] = [];
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
        const { alertname: rule, recording_id: recordingId, camera_server: server } = labels;
        const line = { at, integration, message, status, startsAt: Date.parse(startsAt) };
        if (kind === "groups") groups.push({ ...line, server });
        else escalated.push({ ...line, rule, recordingId });
      }
    }
    return fault === undefined ? { status: 202 } : "hang";
  });
  return {
    events: events as readonly IncidentEvent[],
    escalated: escalated as readonly Escalated[],
    /** Alerts about camera servers. */
    groups: groups as readonly GroupLine[],
    pagerduty: (receiver: number) => ({ routing_key: "r".repeat(32), url: `${sink.url}/pagerduty/${receiver}` }),
    phone: (receiver: number) => ({ url: `${sink.url}/phone/${receiver}` }),
    servers: () => ({ url: `${sink.url}/groups/0` }),
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
