import { describe, expect, test } from "vitest";
import { createInhibitor, type InhibitRule } from "../../src/alerting/inhibit.ts";
import { parseMatchers } from "../../src/alerting/matcher.ts";
import type { Labels } from "../../src/health/alert.ts";
import { alertWith, NOW } from "./alerts.ts";

const rule = (source: string, target: string, equal: string[] = []): InhibitRule => ({
  sourceMatchers: parseMatchers(source),
  targetMatchers: parseMatchers(target),
  equal,
});

const ofShop = rule('alertname="LocationOffline"', 'alertname=~"Recording.*"', ["location_id"]);
const shop = (id: string) => alertWith({ alertname: "LocationOffline", location_id: id, location: `Shop ${id}` });
const camera = (id: string, location: string, alertname = "RecordingOffline") =>
  alertWith({ alertname, recording_id: id, recording: `Camera ${id}`, location_id: location });

function suppressed(rules: InhibitRule[], target: Labels, ...sources: Labels[]): boolean {
  const alert = alertWith(target);
  return (
    createInhibitor(rules)([alert, ...sources.map((labels) => alertWith(labels, NOW - 1))]).inhibitor(alert) !==
    undefined
  );
}

test("of two rules by which alerts inhibit each other, the first one applies", () => {
  const equal = ["location_id", "camera_server"];
  const rules = [
    rule('alertname="LocationOffline"', 'alertname=~"Camera.*"', ["location_id"]),
    rule('alertname="CameraServerOffline"', 'alertname=~"LocationOffline|Recording.*"', ["camera_server"]),
  ];
  const where = Object.fromEntries(equal.map((name) => [name, "1"]));
  const [location, server, elsewhere, recording] = [
    alertWith({ alertname: "LocationOffline", ...where }),
    alertWith({ alertname: "CameraServerOffline", ...where }),
    alertWith({ alertname: "LocationOffline", ...where, location_id: "2" }),
    alertWith({ alertname: "RecordingOffline", ...where, recording_id: "1" }),
  ];
  const both = createInhibitor(rules)([server, location, elsewhere, recording]);
  expect([location, server, elsewhere, recording].map((alert) => both.inhibitor(alert))).toEqual([
    undefined,
    location,
    undefined,
    server,
  ]);
  expect(both.standsFor(server), "the other location is outside of what explains the server").toMatchObject({
    recordings: 1,
    locations: 0,
  });
  expect(createInhibitor(rules.toReversed())([server, location]).inhibitor(location)).toBe(server);
});

describe("an alert is inhibited", () => {
  const [here, there] = [{ location_id: "1" }, { location_id: "2" }];
  const [target, source] = [{ alertname: "RecordingOffline" }, { alertname: "LocationOffline" }];
  const [A, B] = [{ alertname: "A" }, { alertname: "B" }];
  const [S, T] = [{ alertname: "S" }, { alertname: "T" }];
  test.each<[string, boolean, InhibitRule[], Labels, Labels?]>([
    ["by a source with the same label", true, [ofShop], { ...target, ...here }, { ...source, ...here }],
    ["not by one with another", false, [ofShop], { ...target, ...here }, { ...source, ...there }],
    ["not by one that lacks it", false, [ofShop], { ...target, ...here }, source],
    ["by one that lacks it as well", true, [ofShop], target, source],
    ["by one that has it empty where it is missing", true, [ofShop], target, { ...source, location_id: "" }],
    ["not where it is no target", false, [ofShop], { alertname: "LowUptime", ...here }, { ...source, ...here }],
    ["not by itself", false, [rule('alertname="A"', 'alertname="A"')], A],
    ["not by another that matches both sides as it does", false, [rule('alertname=~"A|B"', 'alertname=~"A|B"')], A, B],
    ["by one that matches the source alone", true, [rule('alertname=~"A|S"', 'alertname="A"')], A, S],
    ["by one that matches both, where it is only a target", true, [rule('alertname="B"', 'alertname=~"A|B"')], A, B],
    ["by any rule of several", true, [ofShop, rule('alertname="S"', 'location_id!=""')], { ...T, ...here }, S],
    ["by nobody without rules", false, [], target, source],
    [
      "not by a name of every object",
      false,
      [rule('alertname="S"', 'alertname="T"', ["toString"])],
      { ...T, toString: "x" },
      S,
    ],
  ])("%s: %s", (_, expected, rules, of, ...sources) => {
    expect(suppressed(rules, of, ...sources.filter((labels) => labels !== undefined))).toBe(expected);
  });

  test("by the one that stands longest, so that the reason given stays the same", () => {
    const target = camera("1", "9");
    const [young, old] = [NOW, NOW - 5].map((at) => alertWith({ alertname: "LocationOffline", location_id: "9" }, at));
    if (!young || !old) throw new Error("no alerts");
    expect(createInhibitor([ofShop])([young, old, target]).inhibitor(target)).toBe(old);
    expect(createInhibitor([ofShop])([old, young]).inhibitor(target)).toBe(old);
  });

  test("no more once the source is gone from what fires", () => {
    const index = createInhibitor([ofShop]);
    const target = camera("1", "9");
    expect(index([shop("9"), target]).inhibitor(target)).toBeDefined();
    expect(index([target]).inhibitor(target)).toBeUndefined();
  });
});

describe("alerts from outside", () => {
  const blindness = rule('alertname="ServiceUnreachable"', 'location_id!=""');
  const outside = (labels: Labels, startsAt = NOW) => ({
    ...alertWith(labels, startsAt),
    subject: { kind: "external" as const, id: "0123456789abcdef" },
  });
  const door = outside({ alertname: "DoorOpen", location_id: "1" });
  const blind = alertWith({ alertname: "ServiceUnreachable" }, NOW - 1);

  test("are not held because lenswatch is blind, while those of recordings are", () => {
    const { inhibitor, standsFor } = createInhibitor([blindness])([blind, door, camera("1", "1")]);
    expect(inhibitor(door)).toBeUndefined();
    expect(inhibitor(camera("1", "1"))).toBe(blind);
    expect(standsFor(blind)).toMatchObject({ recordings: 1 });
    expect(createInhibitor([blindness])([blind, door]).standsFor(blind)).toBeUndefined();
  });

  test("are held by what somebody outside calls by that name", () => {
    const other = outside({ alertname: "ServiceUnreachable" }, NOW);
    expect(createInhibitor([blindness])([blind, other, door]).inhibitor(door)).toBe(other);
  });

  test("inhibit external alerts, and lenswatch's own only by a rule that says so", () => {
    const power = outside({ alertname: "LocationOffline", location_id: "1" });
    const disk = outside({ alertname: "RecordingDiskFull", location_id: "1" });
    const { inhibitor, standsFor } = createInhibitor([ofShop])([power, camera("a", "1"), disk]);
    expect(inhibitor(camera("a", "1"))).toBeUndefined();
    expect(inhibitor(disk)).toBe(power);
    expect(standsFor(power)).toEqual({ recordings: 0, locations: 0, names: [] });
    const said = createInhibitor([{ ...ofShop, externalSources: true }])([power, camera("a", "1"), disk]);
    expect(said.inhibitor(camera("a", "1"))).toBe(power);
    expect(said.standsFor(power)).toEqual({ recordings: 1, locations: 0, names: ["Camera a"] });
  });

  test("are inhibited by alerts of locations as any other", () => {
    const disk = outside({ alertname: "RecordingDiskFull", location_id: "1" });
    expect(createInhibitor([ofShop])([shop("1"), disk]).inhibitor(disk)).toEqual(shop("1"));
  });

  test("take no alert of lenswatch out of the inhibition by another one", () => {
    const reversed = rule('alertname=~"Recording.*"', 'alertname="LocationOffline"', ["location_id"]);
    const fake = outside({ alertname: "RecordingOffline", location_id: "1" });
    const { inhibitor } = createInhibitor([reversed, ofShop])([fake, shop("1")]);
    expect(inhibitor(shop("1"))).toBeUndefined();
  });

  test("match both sides of a rule as any other", () => {
    const both = createInhibitor([rule('alertname=~"A|B"', 'alertname=~"A|B"')]);
    const [a, b] = [outside({ alertname: "A" }), outside({ alertname: "B" })];
    expect(both([a, b]).inhibitor(a)).toBeUndefined();
    expect(both([a, b]).inhibitor(b)).toBeUndefined();
  });
});

describe("an alert stands for", () => {
  test("the recordings whose alerts it holds, each once, by name", () => {
    const firing = [
      shop("1"),
      camera("b", "1"),
      camera("a", "1"),
      camera("a", "1", "RecordingDegraded"),
      camera("c", "2"),
    ];
    const { standsFor } = createInhibitor([ofShop])(firing);
    expect(standsFor(shop("1"))).toEqual({ recordings: 2, locations: 0, names: ["Camera a", "Camera b"] });
    expect(standsFor(shop("3"))).toBeUndefined();
    expect(standsFor(camera("c", "2"))).toBeUndefined();
  });

  test("not itself, nor another that matches both sides", () => {
    const both = createInhibitor([rule('alertname=~"A|B"', 'alertname=~"A|B|C"')]);
    const [a, b, c] = ["A", "B", "C"].map((alertname) => alertWith({ alertname, recording_id: alertname }));
    if (!a || !b || !c) throw new Error("no alerts");
    expect(both([a, b, c]).standsFor(a)).toMatchObject({ recordings: 1, names: ["C"] });
  });

  test("a thousand by their number, and the first dozen by name", () => {
    const firing = Array.from({ length: 1_000 }, (_, i) => camera(String(i).padStart(4, "0"), "1"));
    const found = createInhibitor([ofShop])(firing).standsFor(shop("1"));
    expect(found).toMatchObject({ recordings: 1_000 });
    expect(found?.names).toHaveLength(12);
  });
});
