/** Counts the recordings of each SLO once a minute, and keeps what that says about its error budget. */
import { type Maintenance, maintenanceOf } from "../alerting/maintenance.ts";
import { matchesAll } from "../alerting/matcher.ts";
import type { Config } from "../config/config.ts";
import type { Labels } from "../health/alert.ts";
import { addSample } from "../health/error-budget.ts";
import { type FleetRow, locationsOf, rowsAt, statusOf } from "../health/fleet-locations.ts";
import { recordingLabels } from "../health/recording-evaluator.ts";
import type { FleetSnapshot } from "../health/shard-state.ts";
import type { SloEvidence } from "../health/slo-evaluator.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import { nameOf, nameWithin } from "../lib/format.ts";
import type { Logger } from "../lib/log.ts";
import { createYielder, runYielding } from "../lib/yield.ts";
import type { LabelledBudget, Store } from "../store/store.ts";
import type { ScheduleLookup } from "./schedule-lookup.ts";

const EVERY_MS = 60_000;
/** Of all SLOs together; those of further groups are not kept. */
const MOST_BUDGETS = 500;
const MOST_NAMED = 3;
/** Of an SLO that is not configured any more: it may have been left out by mistake. */
const UNCONFIGURED_KEPT_MS = 86_400_000;

export interface SloSamplesDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly config: { readonly slos: Config["slos"]; readonly maintenance: readonly Maintenance[] };
  readonly store: Pick<Store["slos"], "readAll" | "save" | "forget">;
  readonly watch: Pick<Config["watch"], "statusIntervalMs">;
  readonly schedules: ScheduleLookup;
  fleet(): Promise<FleetSnapshot>;
}

type Slo = Config["slos"][number];
type Counted = {
  readonly labels: Labels;
  readonly title: string;
  good: number;
  bad: number;
  readonly offline: string[];
};

/** Gives `sample()`: the error budgets as they are now; undefined where they cannot be read. */
export function createSloSamples(deps: SloSamplesDeps): () => Promise<readonly SloEvidence[] | undefined> {
  const { clock, config, store, log } = deps;
  let hadRoom = true;
  const logLeftOut = (leftOut: number) => {
    if (leftOut > 0 && hadRoom) log.warn({ kept: MOST_BUDGETS, leftOut }, "error budgets left out, too many groups");
    hadRoom = leftOut === 0;
  };
  return async () => {
    try {
      const known = await store.readAll();
      const now = clock.now();
      const newest = Math.max(0, ...[...known.values()].map(({ budget }) => budget.at));
      const rows = now >= newest && now - newest < EVERY_MS ? known : await sampled(deps, known, now, logLeftOut);
      return sloEvidence(config.slos, rows);
    } catch (thrown) {
      log.warn({ err: toError(thrown) }, "error budgets not sampled, their alerts stay");
      return undefined;
    }
  };
}

async function sampled(
  deps: SloSamplesDeps,
  known: ReadonlyMap<string, LabelledBudget>,
  now: Instant,
  logLeftOut: (leftOut: number) => void,
) {
  const { config, store, watch } = deps;
  const counts = [...(await countRecordings(deps, now))];
  // Which are left out does not change from sample to sample.
  counts.sort(([a], [b]) => Number(known.has(b)) - Number(known.has(a)));
  logLeftOut(Math.max(0, counts.length - MOST_BUDGETS));
  const rows = new Map<string, LabelledBudget>();
  for (const [id, { good, bad, offline, ...row }] of counts.slice(0, MOST_BUDGETS))
    rows.set(id, {
      ...row,
      offline: { total: bad, names: offline },
      budget: addSample(known.get(id)?.budget, { good, bad }, now, watch.statusIntervalMs),
    });
  await store.save(rows);
  const isOver = ([id, { budget }]: [string, LabelledBudget]) => {
    const slo = config.slos.find((one) => isOf(one, id));
    return !rows.has(id) && now - budget.at > (slo?.periodMs ?? UNCONFIGURED_KEPT_MS);
  };
  await store.forget([...known].filter(isOver).map(([id]) => id));
  return new Map([...known, ...rows]);
}

function isOf({ name, by }: Slo, id: string): boolean {
  return by === undefined ? id === name : id.startsWith(`${name}/`);
}

/** The stored error budgets of these SLOs. */
export function sloEvidence(slos: readonly Slo[], rows: ReadonlyMap<string, LabelledBudget>): SloEvidence[] {
  return slos.flatMap((slo) => {
    const { objective, periodMs } = slo;
    const own = [...rows].filter(([id]) => isOf(slo, id));
    return own.map(([id, row]) => ({ id, ...row, objective, periodMs }));
  });
}

/** Recordings inside their schedule, in no maintenance, whose status is known, by error budget. */
async function countRecordings(
  { fleet: readFleet, config, schedules }: SloSamplesDeps,
  now: Instant,
): Promise<ReadonlyMap<string, Counted>> {
  if (config.slos.length === 0) return new Map();
  const fleet = await readFleet();
  const { inSchedule } = schedules(now);
  const counts = new Map<string, Counted>();
  const maybeYield = createYielder();
  for (const row of rowsAt((await runYielding(locationsOf(fleet))).values())) {
    await maybeYield();
    const isGood = isRecording(row, fleet);
    if (isGood === undefined || inSchedule?.(row.id) === false) continue;
    const labels = recordingLabels(row.id, row.locationId, fleet.inventory);
    if (maintenanceOf(config.maintenance, labels as Labels, now)) continue;
    for (const slo of config.slos) {
      if (!matchesAll(slo.matchers, labels as Labels)) continue;
      const group = groupOf(slo, labels as Labels);
      const counted = counts.get(group.id) ?? { ...group, good: 0, bad: 0, offline: [] };
      counted[isGood ? "good" : "bad"] += 1;
      if (!isGood && counted.offline.length < MOST_NAMED) counted.offline.push(nameFor(labels as Labels));
      counts.set(group.id, counted);
    }
  }
  return counts;
}

function nameFor({ recording = "", location = "" }: Labels): string {
  const names = [location, nameWithin(recording, location)].filter(Boolean);
  return names.map((name) => nameOf(name, "")).join(", ");
}

/** Missing recordings do not record; of others without a fresh status nothing is known. */
function isRecording(row: FleetRow, fleet: FleetSnapshot): boolean | undefined {
  const alerts = Object.values(row.rows.states.more(row.place).alerts ?? {});
  if (alerts.some(({ state, facts }) => state === "firing" && facts.problem === "missing")) return false;
  const status = statusOf(row, fleet);
  return status === "unknown" ? undefined : status !== "offline";
}

function groupOf({ name, by }: Slo, labels: Labels): { id: string; title: string; labels: Labels } {
  if (by === undefined) return { id: name, title: `SLO ${name}`, labels: { slo: name } };
  const label = by === "location" ? "location_id" : by;
  const value = labels[label] ?? "";
  const shown = (by === "location" && labels.location) || value;
  const own = { slo: name, [label]: value, ...(by === "location" && { location: shown }) };
  return { id: `${name}/${value}`, title: `SLO ${name} of ${shown.slice(0, 100)}`, labels: own };
}
