/** `GET /api/v1/recordings/{id}/what-if`: what would be sent if a recording, location or camera server went offline now. */
import { z } from "zod";
import { type RehearsedMessage, rehearse } from "../../alerting/rehearsal.ts";
import { suppressorName } from "../../alerting/suppression-words.ts";
import { groupOfSubject } from "../../health/alert.ts";
import { imaginedOutage } from "../../health/imagined-outage.ts";
import type { Recording } from "../../health/recording.ts";
import { type FleetNames, recordingsWith } from "../../health/shard-overview.ts";
import { HttpError } from "../errors.ts";
import { isoTime } from "../query.ts";
import { operation, timeSchema } from "./operation.ts";

const ApiSuppression = z
  .strictObject({
    reason: z.string(),
    by: z
      .string()
      .describe(
        "The alert that inhibits and its subject, the author of a silence, the name of an interval or maintenance.",
      ),
    until: timeSchema.nullable(),
  })
  .readonly();

const ApiRehearsed = z
  .strictObject({
    at: timeSchema.nullable().describe("The earliest, where all of it stays offline; null for never."),
    integration: z.string(),
    alertname: z.string(),
    alerts: z.int().min(1).describe("Alerts of that name in the message."),
    escalateAfterSeconds: z.number().nullable().describe("Sent only where nobody acknowledged for so long."),
    repeatSeconds: z.number(),
    suppressions: z.array(ApiSuppression).readonly().describe("What it waits for, in this order."),
  })
  .readonly();

export const ApiWhatIf = z
  .strictObject({
    now: timeSchema,
    timezone: z.string(),
    recordings: z.int().min(1),
    readWithinSeconds: z.number().describe("All times may be later by as much."),
    items: z.array(ApiRehearsed).readonly(),
  })
  .readonly();

export const getWhatIf = operation({
  id: "getWhatIf",
  method: "get",
  path: "/api/v1/recordings/{id}/what-if",
  summary:
    "What would be sent, to whom and when, if a recording, a location, or a group such as `camera_server/edge-7` went offline now.",
  answer: ApiWhatIf,
  async handle(deps, { param: id }) {
    const { route, inhibitRules, rules = [], maintenance = [] } = deps.config();
    const [{ inventory, statusIntervalMs }, active, silences] = await Promise.all([
      deps.overview(),
      deps.alerts(),
      deps.silences(),
    ]);
    const offline = recordingsMeant(id, inventory);
    if (offline.length === 0)
      throw new HttpError("not_found", "There is no recording, location or group with this id.");
    const now = deps.clock.now();
    const firing = active.flatMap(({ alert }) => (alert.state === "firing" ? alert : []));
    const facts = { route, inhibitRules, maintenance, silences, firing, inventory, integrations: deps.integrations() };
    const messages = rehearse(imaginedOutage(offline, rules, inventory, now), facts);
    const zones = new Set(offline.map(({ timezone }) => timezone));
    return {
      now: isoTime(now),
      timezone: (zones.size === 1 && offline[0]?.timezone) || "UTC",
      recordings: offline.length,
      readWithinSeconds: statusIntervalMs / 1_000,
      items: messages.map(rowOf),
    };
  },
});

function recordingsMeant(id: string, inventory: FleetNames): readonly Recording[] {
  const { label = "location_id", value = id } = groupOfSubject({ kind: "group", id }) ?? {};
  const one = inventory.recording(id);
  return one ? [one] : (recordingsWith(label, value, inventory) ?? []);
}

function rowOf(message: RehearsedMessage): z.infer<typeof ApiRehearsed> {
  const { at, integration, alerts, escalateAfterMs, repeatMs, suppressions } = message;
  return {
    at: isoTime(at),
    integration: integration.name,
    alertname: alerts[0]?.labels.alertname ?? "",
    alerts: alerts.length,
    escalateAfterSeconds: escalateAfterMs === undefined ? null : escalateAfterMs / 1_000,
    repeatSeconds: repeatMs / 1_000,
    suppressions: suppressions.map((one) => {
      return { reason: one.reason, by: suppressorName(one) ?? one.by, until: isoTime(one.until) };
    }),
  };
}
