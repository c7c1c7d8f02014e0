/** What rules about counts would have said of a simulated world, from the requests to the findings. */

import { beforeAll, describe, expect, test } from "vitest";
import { makeVisitsWorld, type Place, type VisitsWorld } from "../../bench/detect/visits-world.ts";
import { createBacktest } from "../../src/backtest/backtest.ts";
import { replayCounts } from "../../src/backtest/counts.ts";
import { planOf } from "../../src/backtest/setup.ts";
import { type CountedFleet, leastRequests, planCountsHistory } from "../../src/commands/backtest/counts.ts";
import { renderBacktest } from "../../src/commands/backtest/print.ts";
import type { CountedSite } from "../../src/counts/series.ts";
import { countsText, type ImplausibleCounts } from "../../src/health/counts.ts";
import type { Condition, CountsCondition, Rule } from "../../src/health/model.ts";
import type { Recording } from "../../src/health/recording.ts";
import { nameWithin } from "../../src/lib/format.ts";
import { createAssessCounts } from "../../src/poll/counts-assess.ts";
import { localDays } from "../../src/poll/counts-plan.ts";
import type { MetricReplyRow } from "../../src/service/metric-rows.ts";
import { type Service, ServiceError } from "../../src/service/service.ts";
import type { KeptSeries } from "../../src/store/counts.ts";
import { setupOf } from "./histories.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const FROM = Date.UTC(2026, 9, 13);
const SPAN = { from: FROM, to: FROM + 42 * HOUR };
/** A trading morning. */
const BLIND = { from: FROM + 10 * HOUR, to: FROM + 34 * HOUR };

type Query = Parameters<Service["entries"]>[0];

/** Answers at once, as the service does once nothing is corrected any more. */
function serviceOf(world: VisitsWorld, refused: ReadonlySet<string> = new Set()) {
  const asked: string[] = [];
  const reply = <Measure extends string>(route: string, rows: readonly (Place & { values: object })[]) => {
    asked.push(route);
    if (refused.has(route)) throw new ServiceError("bad_request", "no such route");
    const summary = rows.map(({ locationId: location, zone: taxonomy, values }) => ({ location, taxonomy, values }));
    return { summary: summary as unknown as MetricReplyRow<Measure>[] } as never;
  };
  const counted = ({ start: from, end: to = 0 }: Query, place: Place) => world.countedBetween({ ...place, from, to });
  const service: Pick<Service, "entries" | "areaData" | "conversionRate" | "areaContexts"> = {
    entries: async (query) =>
      reply(
        "entries",
        query.locations.map((locationId) => {
          return { locationId, values: { entries: counted(query, { locationId }) ?? undefined } };
        }),
      ),
    areaData: async (query) =>
      reply(
        "zones",
        query.locations.flatMap((locationId) =>
          query.taxonomies.map((zone) => ({
            ...{ locationId, zone },
            values: { area_total_entries: counted(query as never, { locationId, zone }) ?? undefined },
          })),
        ),
      ),
    conversionRate: async (query) =>
      reply(
        "sales",
        query.locations.map((locationId) => {
          const visitors = counted(query, { locationId }) ?? 0;
          const sold = world.salesBetween({ locationId, from: query.start, to: query.end ?? 0 });
          return { locationId, values: { sales_conversion_rate: visitors > 0 ? sold / visitors : undefined } };
        }),
      ),
    areaContexts: async ({ entities }) => ({
      dropped: 0,
      contexts: world.locations
        .filter(({ id }) => entities.includes(id))
        .flatMap(({ recordings }) =>
          recordings.flatMap(({ id: recordingId, taxonomies }) =>
            taxonomies.map((taxonomy) => ({ areaType: "taxonomy", taxonomy, recordingId })),
          ),
        ),
    }),
  };
  return { service, asked };
}

const recordingsOf = (world: VisitsWorld) => world.locations.flatMap(({ recordings }) => recordings);

function recordingOf({ id, name, location, useUploadingSchedule }: ReturnType<typeof recordingsOf>[number]): Recording {
  const { timezone, organisation } = location;
  return { id, name, organisation, cameraServer: "", locationId: location.id, useUploadingSchedule, timezone };
}

async function read(world: VisitsWorld, refused?: ReadonlySet<string>) {
  const fleet: CountedFleet = {
    locations: world.locations.map(({ id, name, timezone }) => ({ id, name, timezone })),
    recordings: new Map(recordingsOf(world).map((one) => [one.id, recordingOf(one)])),
    outages: new Map(),
    span: SPAN,
    locationsPerRequest: 50,
  };
  const { service, asked } = serviceOf(world, refused);
  const plan = await planCountsHistory({ service, signal: new AbortController().signal }, fleet);
  return { ...plan, refused: await plan.read(() => {}), asked };
}

function rule(when: Condition, more: Partial<Rule> = {}): Rule {
  const id = JSON.stringify(when);
  const timing = { forMs: 0, keepFiringForMs: 0, respectSchedule: true };
  return { id, alert: "CountsImplausible", when, labels: {}, annotations: {}, ...timing, ...more };
}

const low: CountsCondition = { kind: "counts", sensitivity: 30 };
const RULES = [rule(low), rule({ kind: "counts_together" })];

interface Verdict {
  readonly subject: { readonly recordingId?: string };
  readonly verdict: { readonly finding?: ImplausibleCounts };
}

function tallyOf(sites: readonly CountedSite[], rules = RULES) {
  const names = new Map(world.locations.map((one) => [one.id, one]));
  const recordings = new Map(recordingsOf(world).map((one) => [one.id, recordingOf(one)]));
  const inventory = { recording: (id: string) => recordings.get(id), location: (id: string) => names.get(id) };
  const context = { setup: setupOf(rules), span: SPAN, now: SPAN.to, inventory };
  const backtest = createBacktest(context);
  const steps = replayCounts({ ...context, plan: backtest.plan, sites, isClosed: () => undefined });
  let step = steps.next();
  while (!step.done) step = steps.next();
  backtest.keep(step.value);
  return backtest.result();
}

const replay = (sites: readonly CountedSite[], rules?: Rule[]) => tallyOf(sites, rules).said;

const worldOf = (locations: number) =>
  makeVisitsWorld({ seed: 3, locations, recordingsPerLocation: 3, startedAt: FROM - 70 * DAY });

let sites: readonly CountedSite[];
let tally: ReturnType<typeof tallyOf>;
const world = worldOf(2);
const [location] = world.locations;
const [camera] = location?.recordings ?? [];

beforeAll(async () => {
  world.impair(camera?.id ?? "", { sees: 0 }, BLIND.from, BLIND.to);
  ({ sites } = await read(world));
  tally = tallyOf(sites);
});

describe("a world with a camera that counts nobody", () => {
  test("is said to have it, since it does and until it counts again, and nothing else", () => {
    expect(tally.said.length).toBeGreaterThan(0);
    for (const { locationId, recordingId, firedAt, startsAt, until = SPAN.to, text } of tally.said) {
      expect(locationId).toBe(location?.id);
      expect([undefined, camera?.id]).toContain(recordingId);
      expect(Math.abs(startsAt - BLIND.from)).toBeLessThanOrEqual(2 * HOUR);
      expect(firedAt).toBeLessThan(BLIND.to);
      expect(until).toBeGreaterThan(BLIND.to);
      expect(text).toMatch(/ counts \d since .*, usually \d+ by now; .* \d+/);
    }
  });

  test("is printed with the text of its alerts, and their rate", () => {
    const counts = { requests: 100, refused: ["sales"] };
    const fleet = { span: SPAN, locations: 2, recordings: 6, withoutHistory: 0 };
    const report = { ...fleet, file: "a.yaml", plan: planOf(RULES), counted: tally, counts };
    const [first] = tally.said;
    const table = renderBacktest(report, "table", { width: undefined });
    expect(table).toContain(first?.text);
    expect(table).toContain(`${RULES[0]?.id}: ${tally.said.length} alerts in 0.3 camera-months.\n`);
    const large = renderBacktest({ ...report, recordings: 300 }, "table", { width: undefined });
    expect(large).toMatch(
      / alerts in 1\d\.\d camera-months: \d+\.\d alerts per 1,000 camera-months, true or false\.\n/,
    );
    expect(table).toContain("The service refused sales");
    const { said } = JSON.parse(renderBacktest(report, "json", { width: undefined }));
    expect(said).toHaveLength(tally.said.length);
    expect(said[0]).toMatchObject({ text: first?.text, firedAt: new Date(first?.firedAt ?? 0).toISOString() });
  });

  test("and without it, nothing is said", async () => {
    expect(replay((await read(worldOf(1))).sites)).toEqual([]);
  });

  test("is said later where a rule waits, and not where it waits for longer", () => {
    const rules = [rule(low, { id: "3 h", forMs: 3 * HOUR }), rule(low, { id: "2 d", forMs: 2 * DAY })];
    const later = replay(sites.slice(0, 1), rules);
    expect(later.map(({ rule, firedAt }) => [rule, firedAt])).toEqual(
      tally.said.map(({ firedAt }) => ["3 h", firedAt + 3 * HOUR]),
    );
  });
});

test("an alert goes on while counts come back by less than half", () => {
  const some = (series: CountedSite["entries"]) => ({
    ...series,
    hours: new Map(
      [...series.hours].map(([at, own]) => [at, at < BLIND.from ? own : at < BLIND.to ? 0 : 0.4 * (own ?? 0)]),
    ),
  });
  const partly = sites.slice(1).map((site) => ({ ...site, entries: some(site.entries), zones: [], recordings: [] }));
  expect(replay(partly, [rule(low)])).toMatchObject([{ locationId: partly[0]?.locationId, until: undefined }]);
});

test("sales of an hour are what was sold in it", () => {
  for (const [at, sold] of sites[1]?.sales?.hours ?? []) {
    const truth = world.salesBetween({ locationId: sites[1]?.locationId ?? "", from: at, to: at + HOUR });
    expect(Math.abs((sold ?? 0) - truth)).toBeLessThanOrEqual(1);
  }
  expect(sites[1]?.sales?.hours.size).toBeGreaterThan(56 * 24);
});

test("locations whose counts dropped together are one alert, of the rule about them", () => {
  const quiet = (series: CountedSite["entries"]) => ({
    ...series,
    hours: new Map([...series.hours].map(([at, own]) => [at, at >= BLIND.from && at < BLIND.to ? 0 : own])),
  });
  const together = ["a", "b", "c"].flatMap((locationId) =>
    sites.slice(0, 1).map((site) => ({ ...site, locationId, entries: quiet(site.entries), zones: [], recordings: [] })),
  );
  const [group, ...more] = replay(together);
  expect(more).toEqual([]);
  expect(group).toMatchObject({ rule: RULES[1]?.id, text: expect.stringContaining("3 of 3 locations count") });
  expect(group?.until).toBeGreaterThan(BLIND.to);
});

// The daemon learns what is usual once an hour, a backtest once a day.
test("an alert begins at the hour at which the daemon would be as sure, with nearly the same figures", async () => {
  const first = tally.said.find(({ recordingId }) => recordingId === camera?.id);
  const counts = first && (await daemonAt(first.firedAt));
  if (!counts) throw new Error("nothing found");
  const moment = { now: first.firedAt, timezone: location?.timezone ?? "" };
  const figures = (text: string) => [...text.matchAll(/\d+/g)].map(([digits]) => Number(digits));
  const text = countsText(nameWithin(camera?.name ?? "", location?.name ?? ""), counts, moment);
  expect(first.text.replaceAll(/\d+/g, "N")).toBe(text.replaceAll(/\d+/g, "N"));
  for (const [i, figure] of figures(text).entries()) {
    expect(Math.abs((figures(first.text)[i] ?? Number.NaN) - figure)).toBeLessThanOrEqual(1 + figure / 20);
  }
  expect(await daemonAt(first.firedAt - HOUR)).toBeUndefined();

  async function daemonAt(now: number): Promise<ImplausibleCounts | undefined> {
    const site = sites.find(({ locationId }) => locationId === location?.id) as CountedSite;
    const days = localDays(site.entries.timezone, now);
    const kept = ({ hours }: CountedSite["entries"]): KeptSeries => {
      const known = [...hours].filter(([hour]) => hour <= days.lastHour && hour > days.lastHour - 56 * DAY);
      return { hours: new Map(known), early: new Set(), readings: [] };
    };
    const counts = {
      timezone: site.entries.timezone,
      entries: kept(site.entries),
      zones: new Map(site.zones.map((series) => [series.zone ?? "", kept(series)])),
      sales: site.sales && kept(site.sales),
    };
    const zones = new Map(site.recordings.map(({ recordingId, zones }) => [recordingId, zones]));
    const recordings = new Map(
      site.recordings.map(({ recordingId: id }) => [id, { id, locationId: site.locationId, status: "online" }]),
    );
    const saved: { rules: Record<string, { verdicts: readonly Verdict[] }[]> }[] = [];
    const { organisation } = site.groups;
    const assess = createAssessCounts({
      clock: { now: () => now },
      store: {
        inventory: { recording: () => ({ organisation }), location: () => undefined },
        usualEntries: { save: async () => {} },
        countVerdicts: { saveAssessed: async (_: number, one: (typeof saved)[number]) => void saved.push(one) },
      },
      rules: [rule(low)],
      closedDays: [],
      pastOutages: async () => new Map(),
    } as never);
    const { each, finish } = await assess(0, { recordings, locations: new Map() } as never);
    await each({ id: site.locationId, counts, days, zones } as never);
    await finish();
    const verdicts = saved[0]?.rules["30"]?.[0]?.verdicts ?? [];
    const own = verdicts.find((one) => one.subject.recordingId === camera?.id);
    return own?.verdict.finding;
  }
});

test("makes the requests that it announces, and does without routes that the service refuses", async () => {
  const small = makeVisitsWorld({ seed: 3, locations: 1, recordingsPerLocation: 1, startedAt: FROM - 70 * DAY });
  const { cost, asked } = await read(small);
  expect(asked).toHaveLength(cost);
  expect(cost / leastRequests(1, SPAN, 50)).toBeGreaterThanOrEqual(1);
  expect(cost / leastRequests(1, SPAN, 50)).toBeLessThan(1.05);
  const without = await read(small, new Set(["zones", "sales"]));
  expect(without.refused).toEqual(new Set(["zones", "sales"]));
  expect(without.asked.filter((route) => route !== "entries")).toHaveLength(2);
  await expect(read(small, new Set(["entries"]))).rejects.toThrow(ServiceError);
});
