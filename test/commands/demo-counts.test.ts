import { expect, test } from "vitest";
import { addShop } from "../../src/commands/demo.ts";
import { storePastCounts } from "../../src/commands/demo-counts.ts";
import { assessCounts, countsOf, learnSite } from "../../src/counts/evaluate.ts";
import type { CountSeries } from "../../src/counts/series.ts";
import { countsText } from "../../src/health/counts.ts";
import { createLocalHours } from "../../src/lib/local-hours.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { createService } from "../../src/service/service.ts";
import { startSimulator } from "../../src/simulator/simulator.ts";
import type { KeptCounts, KeptSeries } from "../../src/store/counts.ts";

/** What the shop's stored counts show at `now`: in words, by recording. */
async function foundAt(now: number): Promise<string[]> {
  const clock = { now: () => now };
  const simulator = await startSimulator({ locations: 5, recordingsPerLocation: 4, seed: 7, clock });
  addShop(simulator.world, now);
  const service = createService({
    config: { ...simulator, requestTimeoutMs: 20_000, uptimeIndexTimezone: "recording" },
    clock,
    log: silentLogger,
  });
  const stored = new Map<string, KeptCounts>();
  const store = { save: async (id: string, counts: KeptCounts) => void stored.set(id, counts) };
  const shop = simulator.world.locations.slice(-1);
  await storePastCounts(shop, { service, store, now, signal: AbortSignal.timeout(60_000) });
  await service.close();
  await simulator.close();
  return shop.flatMap(({ id, timezone, recordings }) => {
    const kept = stored.get(id);
    if (!kept) return ["nothing is stored"];
    const series = ({ hours, readings }: KeptSeries, zone?: string): CountSeries => {
      return { locationId: id, zone, timezone, hours, readings };
    };
    const site = {
      locationId: id,
      entries: series(kept.entries),
      zones: [...kept.zones].map(([zone, one]) => series(one, zone)),
      recordings: recordings.map((one) => ({ recordingId: one.id, zones: one.taxonomies, outages: [] })),
      groups: {},
    };
    const options = { hours: createLocalHours() };
    const rule = { sensitivity: 30 } as const;
    const counts = countsOf(site, learnSite(site, now, options), now, options);
    return assessCounts(counts, rule, []).verdicts.flatMap(({ subject, verdict }) => {
      const name = recordings.find((one) => one.id === subject.recordingId)?.name ?? "location";
      return verdict.is === "implausible" ? [countsText(name, verdict.finding, { now, timezone })] : [];
    });
  });
}

test("the stored counts show that the entrance counts nobody since noon, and a neighbour that counts", async () => {
  expect(await foundAt(Date.parse("2026-11-23T03:40Z"))).toEqual([
    expect.stringMatching(/^location counts 0 since 11:55, usually \d+ by now; \w+ counted \d+$/),
    expect.stringMatching(/ Entrance counts 0 since 11:55, usually \d+ by now; \w+ counted \d+$/),
  ]);
});
