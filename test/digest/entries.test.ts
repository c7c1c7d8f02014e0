import { DateTime } from "luxon";
import { describe, expect, it } from "vitest";
import type { Digest, UntrustedDay } from "../../src/digest/digest.ts";
import { addEntries } from "../../src/digest/entries.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { type EntriesQuery, ServiceError } from "../../src/service/service.ts";
import { useTestStore } from "../store/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";
import { sampleDigest } from "./sample.ts";

const HOUR = 3_600_000;
const NOW = Date.parse("2026-11-23T08:00:00Z");

function untrusted(locationId: string, date: string, timezone = "Europe/London"): UntrustedDay {
  const alike = [7, 14, 21, 28, 35].map((days) =>
    DateTime.fromISO(date, { zone: "utc" }).minus({ days }).toFormat("yyyy-MM-dd"),
  );
  return {
    locationId,
    locationName: locationId,
    timezone,
    date,
    uptime: 0.5,
    alike,
    entries: undefined,
    usual: undefined,
  };
}

const digestOf = (...days: UntrustedDay[]): Digest => ({ ...sampleDigest("1w"), untrusted: days, counts: "not_asked" });

/** A service that counts 10 people each day and one more per day of the month; `answer` changes its answers. */
function serviceOf(answer: (query: EntriesQuery) => void = () => {}) {
  const asked: EntriesQuery[] = [];
  return {
    asked,
    async entries(query: EntriesQuery) {
      asked.push(query);
      answer(query);
      const segments = query.locations.flatMap((location) => {
        const rows = [];
        for (let at = query.start; at < (query.end ?? 0); at += 24 * HOUR) {
          const date = new Date(at + 12 * HOUR).toISOString().slice(0, 10);
          const strange: Readonly<Record<string, number | undefined>> = { silent: undefined, less: -5, more: 1e300 };
          const entries = location in strange ? strange[location] : 10 + Number(date.slice(8));
          const who = { taxonomy: undefined, age: undefined, gender: undefined, role: undefined };
          // Sydney's are written in UTC.
          const index = location === "sydney" ? new Date(at).toISOString().replace("Z", "") : `${date}T00:00:00.000`;
          rows.push({ ...who, index, location, values: { entries } });
        }
        return rows;
      });
      return { segments, summary: undefined, estimates: undefined, units: {}, dropped: 0 };
    },
  };
}

describeWithRedis("visitor counts of a digest", () => {
  const testStore = useTestStore();

  function depsOf(service: ReturnType<typeof serviceOf>, now = NOW) {
    return { service, store: testStore().store, clock: { now: () => now }, log: silentLogger };
  }

  it("are requested by local day, in one request for the locations of a zone", async () => {
    const service = serviceOf();
    const digest = await addEntries(
      depsOf(service),
      digestOf(
        untrusted("leeds", "2026-11-17"),
        untrusted("york", "2026-11-20"),
        untrusted("la", "2026-11-20", "America/Los_Angeles"),
      ),
    );
    expect(service.asked).toEqual([
      {
        // 13 October, when there was summer time, to the end of the 20th.
        start: Date.parse("2026-10-12T23:00:00Z"),
        end: Date.parse("2026-11-21T00:00:00Z"),
        locations: ["leeds", "york"],
        facets: ["segments"],
        aggregationPeriod: "day",
        breakdown: { entity: true },
      },
      expect.objectContaining({ start: Date.parse("2026-10-16T07:00:00Z"), locations: ["la"] }),
    ]);
    expect(digest.counts).toBe("had");
    expect(digest.untrusted.map(({ entries, usual }) => [entries, usual])).toEqual([
      [27, 23],
      [30, 26],
      [30, 26],
    ]);
  });

  it("are of their local day where the service writes it in UTC", async () => {
    const digest = digestOf(untrusted("sydney", "2026-11-17", "Australia/Sydney"));
    const { untrusted: counted } = await addEntries(depsOf(serviceOf()), digest);
    const same = await addEntries(depsOf(serviceOf()), digestOf(untrusted("hobart", "2026-11-17", "Australia/Sydney")));
    const shown = (days: typeof counted) => days.map(({ entries, usual }) => ({ entries, usual }));
    expect(shown(counted)).toEqual(shown(same.untrusted));
  });

  it("are requested once: finished days for good, recent ones for an hour", async () => {
    const service = serviceOf();
    const digest = digestOf(untrusted("leeds", "2026-11-22"));
    const first = await addEntries(depsOf(service), digest);
    expect(await addEntries(depsOf(service, NOW + HOUR / 2), digest)).toEqual(first);
    expect(service.asked).toHaveLength(1);
    await addEntries(depsOf(service, NOW + 2 * HOUR), digest);
    expect(service.asked.slice(1).map(({ start, end }) => [start, end])).toEqual([
      [Date.parse("2026-11-22T00:00:00Z"), Date.parse("2026-11-23T00:00:00Z")],
    ]);
    await addEntries(depsOf(service, NOW + 40 * HOUR), digest);
    await addEntries(depsOf(service, NOW + 80 * HOUR), digest);
    expect(service.asked).toHaveLength(3);
  });

  it.each(["silent", "less", "more"])("that are not plausible (%s) are no figure, not 0", async (id) => {
    const digest = await addEntries(depsOf(serviceOf()), digestOf(untrusted(id, "2026-11-17")));
    expect(digest).toMatchObject({ counts: "had", untrusted: [{ entries: undefined, usual: undefined }] });
  });

  it("are requested in pages, for the worst 500 locations", async () => {
    const service = serviceOf();
    const days = Array.from({ length: 510 }, (_, i) => untrusted(`place-${i}`, "2026-11-17"));
    const { untrusted: counted } = await addEntries(depsOf(service), digestOf(...days));
    expect(service.asked.map(({ locations }) => locations.length)).toEqual(Array(20).fill(25));
    expect(counted.filter(({ entries }) => entries !== undefined)).toHaveLength(500);
  });

  it("are those of the period alone where weeks are refused", async () => {
    const service = serviceOf(({ start, end }) => {
      if ((end ?? 0) - start > 7 * 24 * HOUR) throw new ServiceError("bad_request", "Too many days: ask for fewer.");
    });
    const digest = await addEntries(depsOf(service), digestOf(untrusted("leeds", "2026-11-17")));
    expect(digest).toMatchObject({ counts: "had", untrusted: [{ entries: 27, usual: undefined }] });
  });

  describe("that are not available", () => {
    it("leave the rest of the digest as it is, and mark it", async () => {
      const service = serviceOf(() => {
        throw new ServiceError("unavailable", "The service is down: wait.");
      });
      const before = digestOf(untrusted("leeds", "2026-11-17"));
      expect(await addEntries(depsOf(service), before)).toEqual({ ...before, counts: "failed" });
      expect(service.asked).toHaveLength(1);
    });

    it("for some locations are present for the others, stored ones without another request", async () => {
      const days = Array.from({ length: 30 }, (_, i) => untrusted(`place-${i}`, "2026-11-17"));
      let down = true;
      const service = serviceOf(({ locations }) => {
        if (down && locations.includes("place-29")) throw new ServiceError("timeout", "Too late: wait.");
      });
      const known = ({ untrusted: counted }: Digest) => counted.filter(({ entries }) => entries !== undefined).length;
      const half = await addEntries(depsOf(service), digestOf(...days));
      expect([half.counts, known(half)]).toEqual(["failed", 25]);
      down = false;
      const whole = await addEntries(depsOf(service), digestOf(...days));
      expect([whole.counts, known(whole)]).toEqual(["had", 30]);
      expect(service.asked.map(({ locations }) => locations.length)).toEqual([25, 5, 5]);
    });
  });

  it("are not requested where every day is reliable", async () => {
    const service = serviceOf();
    expect((await addEntries(depsOf(service), digestOf())).counts).toBe("not_asked");
    expect(service.asked).toEqual([]);
  });
});
