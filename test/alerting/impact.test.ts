import { describe, expect, it } from "vitest";
import { type LocationDetails, locationIdOf, withImpact } from "../../src/alerting/impact.ts";
import type { NotifiedAlert } from "../../src/alerting/model.ts";
import type { Alert } from "../../src/health/alert.ts";
import { createLocalHours } from "../../src/lib/local-hours.ts";
import { firing } from "../store/fixtures.ts";

/** A Friday evening in London, Saturday in Sydney. */
const NOW = Date.UTC(2026, 10, 20, 22, 30);
const hours = createLocalHours();

const places = (more: Partial<LocationDetails> = {}): LocationDetails => ({
  zones: new Map([["leeds", new Map([["tills", ["Ground:Service:Tills", "Ground:Service:Desk"]]])]]),
  usual: new Map([["leeds", [100, 200, 300, 400, 1_243, 6, undefined]]]),
  ...more,
});

function recording(changes: Partial<Alert> = {}): Alert {
  const base = firing("tills", NOW, { location_id: "leeds" });
  return { ...base, facts: { timezone: "Europe/London" }, annotations: { summary: "dark" }, ...changes };
}

const annotations = (alert: Alert, known = places(), now = NOW) => withImpact(alert, known, now, hours).annotations;

describe("what an alert means", () => {
  it("is the zones of its recording and what its location usually counts on this weekday", () => {
    expect(annotations(recording())).toEqual({
      summary: "dark",
      zones: "Ground:Service:Tills, Ground:Service:Desk",
      impact: "the location usually counts 1,240 entries on a Friday",
    });
  });

  it("goes by the weekday of the place", () => {
    const there = recording({ facts: { timezone: "Australia/Sydney" } });
    expect(annotations(there).impact).toBe("the location usually counts 6 entries on a Saturday");
    expect(annotations(there, places(), NOW + 86_400_000).impact).toBeUndefined();
  });

  it.each([
    [0, "the location usually counts no entries on a Friday"],
    [1, "the location usually counts 1 entry on a Friday"],
    [99, "the location usually counts 99 entries on a Friday"],
    [104, "the location usually counts 100 entries on a Friday"],
  ])("says %i in words", (entries, words) => {
    expect(annotations(recording(), places({ usual: new Map([["leeds", Array(7).fill(entries)]]) })).impact).toBe(
      words,
    );
  });

  it("of a location is the zones of all its recordings, each once", () => {
    const zones = new Map([
      [
        "leeds",
        new Map([
          ["a", ["One", "Two"]],
          ["b", ["Two", "Three"]],
        ]),
      ],
    ]);
    const alert = recording({ subject: { kind: "location", id: "leeds" } });
    expect(annotations(alert, places({ zones })).zones).toBe("One, Two, Three");
  });

  it("counts zones for which there is no room", () => {
    const many = Array.from({ length: 20 }, (_, i) => `Zone ${i}`);
    const long = ["x".repeat(290), "y".repeat(200)];
    const of = (all: string[]) =>
      annotations(recording(), places({ zones: new Map([["leeds", new Map([["tills", all]])]]) })).zones;
    expect(of(many)).toBe(`${many.slice(0, 8).join(", ")} and 12 more`);
    expect(of(long)).toBe(`${long[0]} and 1 more`);
  });

  it("leaves alone what is not known, and what a rule says itself", () => {
    const alert = recording();
    expect(withImpact(alert, { zones: new Map(), usual: new Map() }, NOW, hours)).toBe(alert);
    const own = recording({ annotations: { zones: "the tills", impact: "nobody can pay" } });
    expect(annotations(own)).toEqual({ zones: "the tills", impact: "nobody can pay" });
  });

  it("is nothing for what is at no place", () => {
    const service = recording({ subject: { kind: "service", id: "service" } });
    expect(locationIdOf(service)).toBeUndefined();
    expect(withImpact(service, places(), NOW, hours)).toBe(service);
  });
});

describe("the context of an outage", () => {
  const now = Date.UTC(2026, 10, 20, 13);
  const of = (changes: Partial<Alert>, more: Partial<LocationDetails> = {}) => {
    const alert = recording({
      startsAt: now - 3_600_000,
      facts: { timezone: "Europe/London", problem: "offline" },
      ...changes,
    });
    const known = { here: new Map([["leeds", { online: 3, of: 4 }]]), outages: new Map([[alert.key, 1]]), ...more };
    return (withImpact(alert, places(known), now, hours) as NotifiedAlert).impact;
  };

  const visits = { estimate: 312, low: 264, high: 357 };
  const id = recording().id;

  it("is how many recordings are online there, visits uncounted, and how often it was out", () => {
    const worth = { valuePerVisit: 12.5, currency: "EUR" };
    const known = { visits: new Map([[id, visits]]), worth };
    expect(of({}, known)).toMatchObject({ here: { online: 3, of: 4 }, uncounted: visits, worth, outages: 2 });
  });

  it("is nothing for what is no outage, and visits alone for what is over", () => {
    expect(of({ facts: { timezone: "UTC", problem: "low_quality" } })).not.toHaveProperty("here");
    const ended = of({ state: "resolved" }, { visits: new Map([[id, visits]]) });
    expect(ended).not.toHaveProperty("here");
    expect(ended).toMatchObject({ uncounted: visits });
  });

  it("is no guess where the recordings of the location are not known", () => {
    expect(of({}, { here: new Map(), outages: new Map() })).toMatchObject({
      here: undefined,
      uncounted: undefined,
      outages: undefined,
    });
  });
});
