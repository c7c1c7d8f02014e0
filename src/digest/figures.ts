/** A digest's figures out of what is remembered, page by page: the histories of a large fleet are never all there. */
import type { Config, DigestConfig } from "../config/config.ts";
import type { Alert } from "../health/alert.ts";
import { currentStatus, recordingsById } from "../health/fleet-snapshot.ts";
import { knownHours } from "../health/schedule.ts";
import type { FleetSnapshot, RecordingState } from "../health/shard-state.ts";
import type { Instant } from "../lib/clock.ts";
import { createYielder, runYielding } from "../lib/yield.ts";
import type { Store } from "../store/store.ts";
import type { UptimeHistory } from "../store/uptime.ts";
import { createDigester, type Digester } from "./compute/compute.ts";
import { incidentOf } from "./compute/incident.ts";
import { subtract, total } from "./compute/spans.ts";
import { createDailyBuckets } from "./daily-buckets.ts";
import type { Digest, DigestPeriod, DigestRecording, DigestScope, Span } from "./digest.ts";
import { digestPeriod } from "./period.ts";

/** The fleet, and which shard each recording's history is in. */
export type Fleet = FleetSnapshot & { readonly shardNumbers: readonly number[] };

export interface FiguresDeps {
  readonly config: Pick<Config, "rules" | "service">;
  readonly store: Pick<Store, "incidents" | "shards" | "uptime" | "coverage">;
  fleet(): Promise<Fleet>;
}

/** A page of histories is a megabyte or so. */
const IDS_PER_READ = 100;
/** All there are: days are kept for as long as two months. */
const FIGURES_FROM_MS = 64 * 86_400_000;
/** Less of the period before than this was watched: then there is nothing to compare with. */
const WATCHED_SHARE = 0.95;
/** Restarts take less. */
const WORTH_SAYING_MS = 15 * 60_000;

export async function computeFleet(
  deps: FiguresDeps,
  digest: DigestConfig,
  period: DigestPeriod,
): Promise<Digest> {
  const fleet = await deps.fleet();
  const digester = createDigester(await scopeOf(deps, digest, period, fleet.now));
  await addFleet(deps, fleet, digester, period.end - FIGURES_FROM_MS);
  return runYielding(digester.finish());
}

async function scopeOf(
  { config, store }: FiguresDeps,
  digest: DigestConfig,
  period: DigestPeriod,
  now: Instant,
): Promise<DigestScope> {
  const { rules } = config;
  const before = digestPeriod(digest.period, period.start, digest.timezone);
  const [all, alerts, coverage, completeSince] = await Promise.all([
    store.incidents.endedSince(before.start),
    store.shards.alerts(),
    store.coverage.since(before.start),
    store.incidents.completeSince(),
  ]);
  const unseen = subtract([{ from: before.start, to: period.end }], coverage);
  // What others send here is no recording's record.
  const isOwn = ({ subject }: Pick<Alert, "subject">) => subject.kind !== "external";
  const ended = all.filter(isOwn);
  const firing = alerts.filter((alert) => alert.state === "firing" && isOwn(alert));
  const unreachable = new Set(
    rules.flatMap(({ id, when }) => (when.kind === "service" && when.state === "unreachable" ? [id] : [])),
  );
  const blind = [...ended, ...firing]
    .filter(({ ruleId, startsAt }) => unreachable.has(ruleId) && startsAt < period.end)
    .map(({ startsAt, endsAt }) => ({ from: startsAt, to: endsAt ?? now }));
  return {
    now,
    period,
    before: { period: before, isWatched: isWatched(before, [...unseen, ...blind], completeSince) },
    timezone: digest.timezone,
    dayZone: config.service.uptimeIndexTimezone === "utc" ? "UTC" : undefined,
    incidents: [
      ...ended.map((row) => incidentOf({ ...row, labels: { alertname: row.alertname } }, rules)),
      ...firing.map((alert) => incidentOf(alert, rules)),
    ],
    matchers: digest.matchers,
    untrustedBelow: digest.untrustedBelow,
    blind,
    unwatched: unseen.filter(({ from, to }) => to - from >= WORTH_SAYING_MS),
  };
}

/** Whether somebody looked at nearly all of it, and what was seen is still remembered. */
function isWatched({ start, end }: DigestPeriod, unseen: readonly Span[], completeSince: Instant): boolean {
  if (completeSince > start) return false;
  return total(subtract([{ from: start, to: end }], unseen)) >= (end - start) * WATCHED_SHARE;
}

async function addFleet(
  { config, store }: FiguresDeps,
  fleet: Fleet,
  digester: Digester,
  from: Instant,
): Promise<void> {
  const states = await runYielding(recordingsById(fleet));
  const bucketsOf = createDailyBuckets();
  const yielder = createYielder();
  const figuresOf = (history: UptimeHistory | undefined, { recording }: DigestRecording) => {
    if (!history) return { buckets: [] };
    const zone = config.service.uptimeIndexTimezone === "utc" ? "UTC" : recording.timezone;
    const scheduleHours = history.schedule && knownHours(history.schedule);
    return { buckets: bucketsOf(history, zone, from), scheduleHours };
  };
  for (const [i, { recordings }] of fleet.shards.entries()) {
    // While a location moves between shards, a recording stands in both: it is told by the later reading.
    const subjects = [...recordings.values()]
      .filter((state) => states.get(state.id) === state)
      .map((state) => subjectOf(fleet, state))
      .filter((subject) => digester.wants(subject));
    for (let at = 0; at < subjects.length; at += IDS_PER_READ) {
      const page = subjects.slice(at, at + IDS_PER_READ);
      const ids = page.map(({ recording }) => recording.id);
      const histories = await store.uptime.histories(fleet.shardNumbers[i] ?? 0, ids);
      for (const subject of page) {
        digester.add(subject, figuresOf(histories.get(subject.recording.id), subject));
        await yielder.maybeYield();
      }
    }
  }
}

function subjectOf(fleet: Fleet, state: RecordingState): DigestRecording {
  return {
    recording: fleet.inventory.recording(state.id) ?? unnamed(state.id, state.locationId),
    locationName: fleet.inventory.location(state.locationId)?.name ?? state.locationId,
    status: currentStatus(state, fleet.now, fleet.statusIntervalMs),
    since: state.since,
  };
}

function unnamed(id: string, locationId: string) {
  return {
    id,
    name: id,
    organisation: "",
    cameraServer: "",
    locationId,
    useUploadingSchedule: false,
    timezone: "UTC",
  };
}
