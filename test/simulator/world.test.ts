import { EventEmitter } from "node:events";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type LedgerEntry, World } from "../../src/simulator/world.ts";
import { handClock } from "./client.ts";

function world(options: { seed?: number; locations?: number; recordingsPerLocation?: number } = {}) {
  const clock = handClock();
  const events = new EventEmitter();
  return {
    clock,
    events,
    world: new World({ seed: 7, locations: 3, recordingsPerLocation: 2, ...options, clock, events }),
  };
}

function first<T>(list: readonly T[]): T {
  const [item] = list;
  if (item === undefined) throw new Error("nothing there");
  return item;
}

describe("the world of a seed", () => {
  test("is the same each time, and another for another seed", () => {
    const shown = (seed: number) =>
      JSON.stringify(world({ seed }).world.recordings.map(({ id, name, quality }) => [id, name, quality]));
    expect(shown(7)).toBe(shown(7));
    expect(shown(7)).not.toBe(shown(8));
  });

  test("has ids of 24 hex characters and names of its own for a large fleet", () => {
    const { recordings, locations } = world({ locations: 1500, recordingsPerLocation: 10 }).world;
    expect(new Set(recordings.map(({ id }) => id)).size).toBe(15_000);
    expect(recordings.every(({ id }) => /^[0-9a-f]{24}$/.test(id))).toBe(true);
    expect(new Set(recordings.map(({ name }) => name)).size).toBe(15_000);
    expect(new Set(locations.map(({ name }) => name)).size).toBe(1500);
  });

  test("starts in Leeds, mostly in London's time zone, with everything online and some under a schedule", () => {
    const { recordings, locations } = world({ locations: 16 }).world;
    const zones = locations.map(({ timezone }) => timezone);
    expect(first(locations).name).toBe("Leeds Briggate");
    expect(zones.filter((zone) => zone === "Europe/London")).toHaveLength(14);
    expect(new Set(zones).size).toBe(3);
    expect(recordings.every(({ status }) => status === "online")).toBe(true);
    expect(recordings.filter(({ useUploadingSchedule }) => useUploadingSchedule)).toHaveLength(4);
  });
});

describe("a change", () => {
  test("of a location's status is one entry in the ledger per recording, with its time", () => {
    const { world: it, clock, events } = world();
    const told: LedgerEntry[] = [];
    events.on("change", (entry) => told.push(entry));
    const location = first(it.locations);
    clock.advance(5_000);
    it.setStatus({ locationId: location.id }, "offline");
    expect(it.ledger).toEqual(
      location.recordings.map(({ id }) => ({
        at: clock.now(),
        change: "status",
        recordingId: id,
        locationId: location.id,
        status: "offline",
      })),
    );
    expect(told).toEqual(it.ledger);
  });

  test("that changes nothing is not written down", () => {
    const { world: it } = world();
    const { id, quality } = first(it.recordings);
    it.setStatus(id, "online");
    it.setQuality(id, quality);
    it.setSchedule(id, false);
    expect(it.ledger).toEqual([]);
  });

  test("of what does not exist is refused", () => {
    const { world: it } = world();
    expect(() => it.setStatus("0".repeat(24), "offline")).toThrow(expect.objectContaining({ code: "not_found" }));
    expect(() => it.setStatus({ locationId: "x" }, "offline")).toThrow(expect.objectContaining({ code: "not_found" }));
  });

  test("adds, renames and removes recordings and locations, each with an entry", () => {
    const { world: it } = world();
    const location = it.addLocation({ name: "York Coney Street", timezone: "Europe/Paris", recordings: 2 });
    const extra = it.addRecording(location.id, "Back Door");
    it.rename(extra.id, "Side Door");
    expect(it.recording(extra.id)?.name).toBe("Side Door");
    expect(it.location(location.id)?.recordings).toHaveLength(3);
    it.remove(extra.id);
    expect(it.recording(extra.id)).toBeUndefined();
    it.remove({ locationId: location.id });
    expect([it.locations.length, it.recordings.length]).toEqual([3, 6]);
    expect(it.ledger.map(({ change }) => change)).toEqual([
      ...["added", "added", "added", "renamed", "removed", "removed", "removed"],
    ]);
  });
});

test("the ledger, replayed, always gives the world as it is", () => {
  const step = fc.record({
    recording: fc.nat(5),
    status: fc.constantFrom("online", "offline", "degraded"),
    wait: fc.nat(9),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const { world: it, clock } = world();
      const ids = it.recordings.map(({ id }) => id);
      for (const { recording, status, wait } of steps) {
        clock.advance(wait);
        it.setStatus(ids[recording] ?? "", status);
      }
      const replayed = new Map(ids.map((id) => [id, "online"]));
      for (const entry of it.ledger) replayed.set(entry.recordingId, entry.status);
      expect(it.recordings.map(({ id, status }) => [id, status])).toEqual([...replayed]);
      expect(it.ledger.every((entry, i) => entry.at >= (it.ledger[i - 1]?.at ?? 0))).toBe(true);
    }),
    { numRuns: 50 },
  );
});
