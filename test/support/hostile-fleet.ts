/**
 * A fleet from a hostile service: rows with hostile names and ids, mutated, read by the real parsers
 * and evaluated. The accepted part is passed to every sink.
 */

import type { LogLine } from "../../src/alerting/decision-log.ts";
import { acceptAlerts, evaluateExternal } from "../../src/alerting/external-alerts.ts";
import type { NotifiedAlert } from "../../src/alerting/model.ts";
import type { Alert } from "../../src/health/alert.ts";
import { contactLine, type Directory } from "../../src/health/directory.ts";
import type { EvaluationContext } from "../../src/health/evaluation.ts";
import { judgeShard } from "../../src/health/judge.ts";
import type { Condition, Rule } from "../../src/health/model.ts";
import { readDirectory } from "../../src/health/read-directory.ts";
import type { Location, Recording, RecordingUptime } from "../../src/health/recording.ts";
import { completed } from "../../src/health/reported-recording.ts";
import { patched } from "../../src/health/shard-patch.ts";
import type { FleetSnapshot, ShardState } from "../../src/health/shard-state.ts";
import { readAlerts } from "../../src/http/v2/postable-alerts.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { parseLocations } from "../../src/service/location-rows.ts";
import { createUptimeParser } from "../../src/service/recording-uptime-rows.ts";
import { parseStatusRows } from "../../src/service/status-uptime-rows.ts";
import { createWallClock } from "../../src/service/zoned-time.ts";
import { NOW } from "../metrics/fleets.ts";
import { anAlert } from "./fixtures.ts";
import { POISONS } from "./hostile-names.ts";
import { type Dice as AnyDice, diceOf, mutateJson } from "./mutate.ts";

const INTERVAL = 30_000;
const LOCATIONS = 45;
const HOUR = 3_600_000;

const rule = (alert: string, when: Condition, severity: string): Rule => ({
  id: alert,
  alert,
  when,
  forMs: 0,
  keepFiringForMs: 0,
  respectSchedule: false,
  labels: { severity },
  annotations: {},
});

export const hostileRules: readonly Rule[] = [
  rule("RecordingOffline", { kind: "status", status: "offline" }, "critical"),
  rule("RecordingDegraded", { kind: "status", status: "degraded" }, "warning"),
  rule("LowQuality", { kind: "average_quality", below: 0.7, clearAbove: 0.8 }, "warning"),
  rule("LowUptime", { kind: "overall_uptime", below: 0.95, clearAbove: 0.97, overMs: 24 * HOUR }, "warning"),
  rule("RecordingMissing", { kind: "missing" }, "warning"),
  rule("RecordingFlapping", { kind: "flapping", high: 0.3, low: 0.2 }, "info"),
  rule("LocationOffline", { kind: "location_offline", atLeast: 1, clearBelow: 0.8, minRecordings: 2 }, "critical"),
];

export interface HostileFleet {
  /** Texts its names consist of. */
  readonly texts: readonly string[];
  readonly snapshot: FleetSnapshot;
  readonly locations: readonly Location[];
  readonly uptimes: readonly RecordingUptime[];
  /** Every alert that fires or has ended, as a channel is handed it. */
  readonly firing: readonly NotifiedAlert[];
  readonly ended: readonly NotifiedAlert[];
  readonly lines: readonly LogLine[];
}

/** Random choices, and texts for names. */
type Dice = AnyDice & { readonly texts: readonly string[] };

type Rows = Record<string, unknown>[];

/** An id of at most 256 characters, as hostile as the parser allows; sometimes a valid one. */
function idOf(text: string, nth: number): string {
  return nth % 3 === 0 ? `${nth}`.padStart(24, "a") : `${text.slice(0, 200)}${nth}`;
}

function served(dice: Dice) {
  const locations: Rows = [];
  const recordings: { recording: Record<string, unknown>; uptime: Rows }[] = [];
  for (let nth = 0; nth < LOCATIONS; nth++) {
    const [name, other] = [dice.texts[nth % dice.texts.length] ?? "", dice.pick(dice.texts)];
    const location = idOf(other, nth);
    locations.push({ id: location, name, timezone: dice.pick(["Europe/London", "Asia/Kolkata", name]) });
    for (let camera = 0; camera < 2; camera++) {
      const recording = {
        id: idOf(name, nth * 2 + camera + 100),
        name: dice.pick([name, other, `${name} ${other}`]),
        organisation: dice.pick(dice.texts),
        cameraServer: dice.pick(dice.texts),
        location,
        useUploadingSchedule: dice.roll(2) === 0,
        timezone: dice.pick(["Europe/London", "UTC", other]),
      };
      recordings.push({ recording, uptime: hours(dice) });
    }
  }
  return { locations, recordings };
}

function hours(dice: Dice): Rows {
  return Array.from({ length: 24 }, (_, i) => ({
    index: new Date(NOW - (25 - i) * HOUR).toISOString().slice(0, 16).replace("T", " "),
    withinSchedule: true,
    segmentsExpected: 60,
    segmentsReceived: 30,
    avgUptimeOnSegment: 1,
    pcSegmentsRecieved: 0.5,
    overallUptime: dice.roll(3) / 2,
  }));
}

/** One row in four is bent; the list itself is sound. */
function bentRows<T>(rows: readonly T[], dice: Dice): unknown[] {
  const bent = rows.map((row) => (dice.roll(4) === 0 ? mutateJson(row, dice) : row));
  return JSON.parse(JSON.stringify(bent)) as unknown[];
}

function statusRows({ recordings }: ReturnType<typeof served>, dice: Dice, statuses: readonly string[]): Rows {
  return recordings.map(({ recording }) => ({
    recording_id: recording.id,
    location_id: recording.location,
    status: dice.pick(statuses),
    last_seen_utc: new Date(NOW - dice.roll(40) * 60_000).toISOString(),
    average_quality: dice.roll(100) / 100,
  }));
}

const DARK = ["offline", "offline", "offline", "degraded"];
const ANY = ["online", "offline", "degraded", "resting"];

/** The same fleet for the same seed, with other `texts`. */
export function hostileFleet(seed: number, texts: readonly string[] = POISONS): HostileFleet {
  const dice = { ...diceOf(seed), texts };
  const report = () => {};
  const wall = createWallClock();
  const world = served(dice);
  const { locations } = parseLocations(bentRows(world.locations, dice), { report, isZone: wall.isZone });
  const answer = createUptimeParser({ report, wall, indexTimezone: "utc", clock: systemClock }).many(
    bentRows(world.recordings, dice),
  );
  const places = new Map(locations.map((location) => [location.id, location]));
  const results = answer.results.map((one) => ({ ...one, recording: completed(one.recording) }));
  const cameras = new Map(results.map(({ recording }) => [recording.id, recording]));
  const directory = directoryOf([...places.keys()], [...cameras.values()], texts);
  const inventory = {
    recording: (id: string) => cameras.get(id),
    location: (id: string) => places.get(id),
    shop: (id: string) => directory.rowOf(id, places.get(id)?.name),
    shopLabels: () => directory.labels,
    nameOf: (id: string) => directory.names.get(id),
    locationsOf: () => places.keys(),
  };
  const ratios = new Map(
    results.map(({ recording, buckets }) => {
      const known = buckets.flatMap(({ overallUptime }) => overallUptime ?? []);
      return [recording.id, known.length === 0 ? undefined : known.reduce((a, b) => a + b) / known.length];
    }),
  );
  const context = (now: number): EvaluationContext => ({
    now,
    inventory,
    intervalMs: INTERVAL,
    forgetAfterMs: 24 * HOUR,
    rules: hostileRules,
    isAssigned: () => true,
    locationIds: world.locations.map(({ id }) => String(id)),
    excluded: new Set(),
    uptime: (id) => ratios.get(id),
    inSchedule: () => true,
    scheduleOf: () => undefined,
    scheduleBegan: () => undefined,
  });

  let state: ShardState = { sweptAt: 0, recordings: new Map(), locations: new Map() };
  const firing = new Map<string, Alert>();
  const ended: Alert[] = [];
  const lines: LogLine[] = [];
  const sweeps = [DARK, ANY, DARK, ANY, ["online"], ANY, DARK, ANY, DARK];
  for (const [nth, statuses] of sweeps.entries()) {
    const now = NOW - (sweeps.length - 1 - nth) * 60_000;
    // Rows without an id hide missing recordings, so every third answer has only valid ids.
    const all = statusRows(world, dice, statuses);
    const rows = nth % 3 === 2 ? all.slice(nth) : bentRows(all, dice);
    const { patch, transitions, decisions } = judgeShard(state, parseStatusRows(rows, report), context(now));
    state = patched(state, patch);
    for (const { kind, alert } of transitions) {
      if (kind !== "resolved") firing.set(alert.key, alert);
      else {
        firing.delete(alert.key);
        ended.push(alert);
      }
    }
    lines.push(...decisions);
  }
  for (const alert of firing.values()) lines.push(...told(alert, dice));
  const notified = (alert: Alert): NotifiedAlert => ({
    ...alert,
    annotations: { ...alert.annotations, ...(dice.roll(2) === 0 ? placed(dice) : {}) },
    fingerprint: "0123456789abcdef",
    isNew: dice.roll(2) === 0,
    standsFor:
      alert.subject.kind === "location"
        ? { recordings: 2, locations: 1, names: [dice.pick(dice.texts), dice.pick(dice.texts)] }
        : undefined,
  });
  return {
    texts,
    locations,
    lines,
    uptimes: results,
    firing: [...firing.values(), unreachable(dice), ...sentAlerts(dice)].map(notified),
    ended: ended.map(notified),
    snapshot: {
      now: NOW,
      statusIntervalMs: INTERVAL,
      shards: [state],
      inventory,
      overallUptime: (id) => ratios.get(id),
    },
  };
}

/** A directory with the texts in every column, as long as it permits, read from its CSV. */
function directoryOf(locations: readonly string[], cameras: readonly Recording[], texts: readonly string[]): Directory {
  const csv = (rows: readonly (readonly string[])[]) =>
    rows.map((row) => row.map((cell) => `"${cell.slice(0, 200).replaceAll('"', '""')}"`).join()).join("\n");
  const at = (i: number) => texts[i % texts.length] ?? "";
  const rows = locations.map((id, i) => [id, at(i), at(i + 7), at(i + 13), at(i + 19)]);
  const servers = new Set(cameras.flatMap(({ cameraServer, organisation }) => [cameraServer, organisation]));
  const named = [...servers].map((id, i) => [id, at(i + 5)]);
  const steps = readDirectory(
    {
      locations: csv([["location_id", "region", "manager", "phone", "notes"], ...rows]),
      names: csv([["id", "name"], ...named]),
    },
    { contacts: ["manager", "phone", "notes"], recipients: [] },
  );
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}

/** External alerts with hostile names, labels and links, half of them mutated. */
function sentAlerts(dice: Dice): Alert[] {
  const sent = dice.texts.map((text) => ({
    labels: { alertname: dice.pick(dice.texts) || "x", instance: text, severity: dice.pick(dice.texts), [text]: text },
    annotations: { summary: dice.pick(dice.texts), description: text, runbook_url: dice.pick(dice.texts) },
    generatorURL: dice.pick(["https://prometheus.example.com/graph?g0.expr=<b>", "javascript:alert(1)", text]),
    startsAt: new Date(NOW - dice.roll(1_000_000)).toISOString(),
  }));
  const reading = readAlerts(bentRows(sent, dice), NOW);
  let step = reading.next();
  while (!step.done) step = reading.next();
  const { next } = acceptAlerts(new Map(), step.value.alerts, { now: NOW, most: 1_000, characters: 1e7 });
  return evaluateExternal(next, { now: NOW, deafUntil: 0 }).transitions.map(({ alert }) => alert);
}

/** Zones and usual entries come from the service; a contact from the directory; a runbook from the configuration. */
function placed(dice: Dice) {
  return {
    contact: contactLine([["phone", dice.texts[3] ?? ""]]),
    zones: dice.pick(dice.texts),
    impact: dice.pick(dice.texts),
    runbook_url: dice.pick(dice.texts),
  };
}

/** Log lines of a delivery, with free text of silences and acknowledgements. */
function told({ subject, ruleId, updatedAt: at, id }: Alert, dice: Dice): LogLine[] {
  const line = { subject, ruleId, at, integration: "ops/slack/0" };
  return [
    { ...line, reason: "notified" },
    { ...line, reason: "inhibited", detail: id },
    { ...line, reason: "acknowledged", detail: dice.pick(dice.texts) },
    { ...line, reason: "silenced", detail: dice.pick(dice.texts) },
    { ...line, reason: "something_new", detail: dice.pick(dice.texts) },
  ];
}

/** Its detail is an error message, which may quote any text of a library. */
function unreachable(dice: Dice): Alert {
  return anAlert({
    subject: { kind: "service", id: "analytics" },
    labels: { alertname: "ServiceUnreachable", severity: "critical" },
    annotations: { summary: "It cannot be reached", description: dice.pick(dice.texts) },
    startsAt: NOW - 60_000,
    firedAt: NOW,
    facts: { timezone: "UTC", problem: "service_unreachable", detail: dice.pick(dice.texts) },
  });
}
