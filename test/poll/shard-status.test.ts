import fc from "fast-check";
import { expect, it } from "vitest";
import type { Reading, StatusSnapshot } from "../../src/health/recording.ts";
import { createAskStatus } from "../../src/poll/shard-status.ts";
import { ServiceError } from "../../src/service/errors.ts";
import { locationRule, missingRule, offlineRule, plain, reading, Story } from "../health/shard-history.ts";
import { rows } from "./rig.ts";

type Fleet = Readonly<Record<string, readonly Reading[]>>;

const LOCATIONS = Array.from({ length: 12 }, (_, i) => `loc-${i}`);
const status = fc.constantFrom("online", "offline", "degraded", "unknown");

/** Statuses of a fleet in which every location has the same recordings at every sweep. */
const sweepOf = fc.record({
  statuses: fc.array(status, { minLength: 36, maxLength: 36 }),
  size: fc.integer({ min: 1, max: 13 }),
  broken: fc.subarray(LOCATIONS),
});

function fleetOf(statuses: readonly Reading["status"][]): Fleet {
  return Object.fromEntries(
    LOCATIONS.map((locationId, i) => [
      locationId,
      Array.from({ length: 1 + (i % 3) }, (_, k) =>
        reading(`${locationId}-${k}`, { locationId, status: statuses[3 * i + k] ?? "online" }),
      ),
    ]),
  );
}

/** A service that refuses requests with a broken location, or of more than `most`. */
function service(fleet: Fleet, broken: readonly string[], most = Number.POSITIVE_INFINITY) {
  const seen = { sizes: [] as number[], atOnce: 0, most: 0 };
  async function statusUptime({ entities }: { entities: readonly string[] }): Promise<StatusSnapshot> {
    seen.sizes.push(entities.length);
    seen.most = Math.max(seen.most, ++seen.atOnce);
    await Promise.resolve();
    seen.atOnce--;
    if (entities.length > most || entities.some((id) => broken.includes(id))) throw new Error("No answer.");
    return rows(...entities.flatMap((id) => fleet[id] ?? []));
  }
  return { statusUptime, seen };
}

function story(): Story {
  const told = new Story(offlineRule(), missingRule(), locationRule());
  told.locationIds = LOCATIONS;
  return told;
}

it("however the request is split, the evaluation is the one of a single answer", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(sweepOf, { minLength: 1, maxLength: 8 }), async (sweeps) => {
      const [whole, split] = [story(), story()];
      for (const { statuses, size } of sweeps) {
        const { statusUptime, seen } = service(fleetOf(statuses), [], size);
        const { snapshot } = await createAskStatus({ statusUptime }, size)(LOCATIONS);
        const all = rows(...Object.values(fleetOf(statuses)).flat());
        whole.pass(30_000);
        split.pass(30_000);
        expect(split.judge(snapshot)).toEqual(whole.judge(all));
        expect(plain(split.state)).toEqual(plain(whole.state));
        expect(seen.most).toBeLessThanOrEqual(4);
      }
    }),
  );
});

it("whichever requests fail, however they are split: nothing is missing, and what was not read stays as it was", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(sweepOf, { minLength: 2, maxLength: 12 }), async (sweeps) => {
      const told = story();
      told.judge(rows(...Object.values(fleetOf([])).flat()));
      for (const { statuses, size, broken } of sweeps) {
        const before = told.state;
        const { statusUptime } = service(fleetOf(statuses), broken);
        const answer = await createAskStatus({ statusUptime }, size)(LOCATIONS).catch(() => undefined);
        if (!answer) continue;
        const { unread = new Set() } = answer.snapshot;
        expect(answer.error !== undefined).toBe(unread.size > 0);
        told.pass(30_000);
        told.judge(answer.snapshot);
        expect(told.reasons().filter((reason) => /missing|forgotten|no_longer|moved/i.test(reason))).toEqual([]);
        expect(told.state.recordings.size).toBe(before.recordings.size);
        for (const id of unread) expect(told.state.locations.get(id)).toEqual(before.locations.get(id));
        for (const state of told.state.recordings.values()) {
          if (!unread.has(state.locationId)) continue;
          expect(state).toEqual(before.recordings.get(state.id));
        }
      }
    }),
  );
});

it("a location that is left unread is neither missing nor forgotten once it is read again without a recording", () => {
  const told = story();
  const all = Object.values(fleetOf([])).flat();
  told.judge(rows(...all));
  const [first = ""] = LOCATIONS;
  const rest = all.filter(({ locationId }) => locationId !== first);
  for (let hours = 0; hours < 30; hours++) {
    told.pass(3_600_000);
    told.judge({ ...rows(...rest), unread: new Set([first]) });
  }
  told.pass(30_000);
  expect(told.judge(rows(...rest))).toEqual([`firing RecordingMissing/recording/${first}-0`]);
});

it("a broken location costs its own request alone, sweep after sweep; a service that is gone costs one round", async () => {
  const { statusUptime, seen } = service(fleetOf([]), LOCATIONS.slice(0, 5));
  const ask = createAskStatus({ statusUptime }, 1);
  await expect(ask(LOCATIONS)).rejects.toThrow("No answer.");
  expect(seen.sizes).toHaveLength(4);
  const unread = [];
  for (let i = 0; i < 3; i++) unread.push(await ask(LOCATIONS).then(({ snapshot }) => [...(snapshot.unread ?? [])]));
  expect(unread.at(-1)).toEqual(LOCATIONS.slice(0, 5));
});

const FIFTY = Array.from({ length: 50 }, (_, i) => `loc-${i}`);
const refused = new ServiceError("bad_request", "answered 404");
const late = new ServiceError("timeout", "got no reply within 20 s");

/** How many of the 50 locations are left unread by each of so many sweeps. */
async function unreadOf(isBroken: (entities: readonly string[]) => boolean, error: Error, sweeps: number) {
  let asked: number[] = [];
  const statusUptime = async ({ entities }: { entities: readonly string[] }): Promise<StatusSnapshot> => {
    asked.push(entities.length);
    if (isBroken(entities)) throw error;
    return rows();
  };
  const ask = createAskStatus({ statusUptime }, 50);
  const unread: number[] = [];
  const sizes: number[][] = [];
  for (let i = 0; i < sweeps; i++) {
    asked = [];
    const answer = await ask(FIFTY).catch(() => undefined);
    unread.push(answer ? (answer.snapshot.unread?.size ?? 0) : 50);
    sizes.push(asked.toSorted((a, b) => a - b));
  }
  return { unread, sizes };
}

it.each([
  ["refuses", refused, 8],
  ["lets time out", late, 12],
])(
  "a location that the service %s leaves the others of its request readable, alone for good",
  async (_, error, after) => {
    const { unread, sizes } = await unreadOf((ids) => ids.includes("loc-17"), error, 400);
    expect(new Set(unread.slice(after))).toEqual(new Set([1]));
    expect(sizes.at(-1)).toEqual([1, 17, 32]);
  },
);

// Fewer than the parts that a request is halved to while nothing is answered.
it("up to six of fifty locations that the service refuses end alone, wherever they are", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(fc.constantFrom(...FIFTY), { minLength: 1, maxLength: 6 }), async (broken) => {
      const { unread } = await unreadOf((ids) => ids.some((id) => broken.includes(id)), refused, 40);
      expect(unread.at(-1)).toBe(broken.length);
    }),
    { numRuns: 40 },
  );
});

it("large requests that time out get smaller; an outage leaves an eighth at least, and whole ones some time after it", async () => {
  const { unread, sizes } = await unreadOf((ids) => ids.length > 30, late, 100);
  expect(unread.slice(5).filter((count) => count > 0).length, "now and then larger ones").toBeLessThanOrEqual(5);
  expect(sizes.at(-1)).toEqual([25, 25]);
  const outage = await unreadOf(() => true, late, 20);
  expect(Math.min(...outage.sizes.flat())).toBeGreaterThanOrEqual(6);
  let asked = 0;
  expect((await unreadOf(() => ++asked <= 20, late, 200)).sizes.at(-1)).toEqual([50]);
});
