import fc from "fast-check";
import { expect, test } from "vitest";
import { createInhibitor } from "../../src/alerting/inhibit.ts";
import { type Maintenance, maintenanceOf } from "../../src/alerting/maintenance.ts";
import { parseMatchers } from "../../src/alerting/matcher.ts";
import { destinationsOf, isRoutedTo, type Route, routesFor, routesOf, viewsAt } from "../../src/alerting/route.ts";
import { silencesOf } from "../../src/alerting/silence.ts";
import { matchesAny, viewsOf } from "../../src/alerting/views.ts";
import type { Alert, Labels } from "../../src/health/alert.ts";
import { addressesOf, describedBy, type Shop } from "../../src/health/directory.ts";
import { runYielding } from "../../src/lib/yield.ts";
import { aSilence } from "../support/fixtures.ts";
import { alertWith, NOW } from "./alerts.ts";

const shop = (labels: Labels, recipients: Shop["recipients"] = {}): Shop => ({ labels, contacts: [], recipients });

/** An alert about these shops, as an evaluation describes it. */
function alertAbout(shops: readonly Labels[], kind: Alert["subject"]["kind"] = "group"): Alert {
  const { labels, ...more } = describedBy({ shop: (id) => shop(shops[Number(id)] ?? {}) }, shops.keys().map(String));
  const own = { alertname: "CameraServerOffline", camera_server: "edge-7" };
  return { ...alertWith({ ...own, ...labels }), ...more, subject: { kind, id: "camera_server/edge-7" } };
}

const own = { alertname: "CameraServerOffline", camera_server: "edge-7" };
const timers = { groupWaitMs: 0, groupIntervalMs: 1, repeatIntervalMs: 1, groupBy: ["region"] };
const route = (key: string, matchers: string, routes: Route[] = [], more: Partial<Route> = {}): Route => ({
  ...timers,
  ...{ key, receiver: key, matchers: parseMatchers(matchers), continue: false, routes },
  ...more,
});
const byRegion = route("ops", "", [route("north", "region=north"), route("south", "region=south")]);

test("labels that all shops share are the alert's; each set of the others is kept once", () => {
  const alert = alertAbout([
    { country: "uk", region: "north", brand: "a" },
    { country: "uk", region: "south" },
    { country: "uk", region: "north", brand: "a" },
  ]);
  expect(alert.labels).toEqual({ ...own, country: "uk" });
  expect(alert.shops).toEqual([{ region: "north", brand: "a" }, { region: "south" }]);
  expect(alertAbout([{ region: "north" }])).not.toHaveProperty("shops");
});

const value = fc.constantFrom("a", "b", "c");
const labelsOf = fc.record({ region: value, brand: value, priority: value }, { requiredKeys: [] });
const shopsOf = fc.array(labelsOf, { minLength: 1, maxLength: 6, size: "max" });
const matcher = fc
  .tuple(
    fc.constantFrom("region", "brand", "priority"),
    fc.constantFrom("=", "!=", "=~", "!~"),
    fc.constantFrom("a", "b", "", "a|c"),
  )
  .map(([name, operator, text]) => `${name}${operator}"${text}"`);
/** Routes with others below them. */
const above = (below: fc.Arbitrary<Route[]>): fc.Arbitrary<Route> =>
  fc
    .tuple(fc.nat(), fc.array(matcher, { maxLength: 2 }), fc.boolean(), below)
    .map(([n, matchers, goesOn, routes]) => route(`r${n}`, matchers.join(), routes, { continue: goesOn }));
const several = (routes: fc.Arbitrary<Route>) => fc.array(routes, { maxLength: 3, size: "max" });
const trees = several(above(several(above(fc.constant([])))));

test("property: an alert about several shops goes where an alert of any of them would go, and nowhere else", () => {
  fc.assert(
    fc.property(shopsOf, trees, (shops, below) => {
      const root = route("root", "", below);
      const alert = alertAbout(shops);
      const wanted = new Set(shops.flatMap((labels) => routesFor(root, { ...own, ...labels })));
      expect(new Set(routesOf(root, alert))).toEqual(wanted);
      const integrations = [...wanted].map(({ receiver }) => ({ ...anIntegration, id: receiver, receiver }));
      for (const { integration, group } of destinationsOf(alert, root, integrations))
        expect(isRoutedTo(alert, root, { receiver: integration }, group)).toBe(true);
      for (const { receiver } of wanted)
        for (const view of viewsAt(root, alert, receiver)) expect(viewsOf(alert)).toContainEqual(view);
    }),
    { numRuns: 2_000 },
  );
});

test("property: matchers match where they match any of the shops", () => {
  fc.assert(
    fc.property(shopsOf, fc.array(matcher, { maxLength: 3 }), (shops, texts) => {
      const matchers = parseMatchers(texts.join());
      const matches = (labels: Labels) => matchers.every((one) => one.matches(labels[one.name] ?? ""));
      expect(matchesAny(matchers, alertAbout(shops))).toBe(shops.some((labels) => matches({ ...own, ...labels })));
    }),
    { numRuns: 2_000 },
  );
});

const anIntegration = { name: "", type: "slack", sendResolved: true, endpoint: "e", paceMs: 0 };

const both = [{ region: "north" }, { region: "south" }];

test("the service is about every shop and about none: its alerts go to each region's team and to the default receiver", () => {
  const receiversOf = (kind: Alert["subject"]["kind"]) =>
    routesOf(byRegion, alertAbout(both, kind)).map(({ receiver }) => receiver);
  expect(receiversOf("service")).toEqual(["ops", "north", "south"]);
  expect(receiversOf("group")).toEqual(["north", "south"]);
});

async function silencedAt(receiver: string, alert: Alert, ...silences: readonly [matchers: string, hours: number][]) {
  const all = silences.map(([text, hours]) =>
    aSilence({ id: text, matchers: parseMatchers(text), startsAt: NOW - 1, endsAt: NOW + hours * 3_600_000 }),
  );
  const views = viewsAt(byRegion, alert, receiver);
  return (await runYielding(silencesOf(all, alert, NOW, undefined, views))).found.map(({ id }) => id);
}

test("a silence of one region suppresses an alert about two of them for that region's team alone", async () => {
  const alert = alertAbout(both);
  const north = ["region=north", 1] as const;
  expect(await silencedAt("north", alert, [...north])).toEqual(["region=north"]);
  expect(await silencedAt("south", alert, [...north])).toEqual([]);
  expect(await silencedAt("elsewhere", alert, [...north])).toEqual([]);
  const service = alertAbout(both, "service");
  expect(await silencedAt("north", service, [...north])).toEqual(["region=north"]);
  expect(await silencedAt("ops", service, [...north], ["region=south", 1])).toEqual([]);
});

test("several silences together suppress what each of its shops has one for, until the first of them ends", async () => {
  const alert = alertAbout(both);
  const two = [
    ["region=north", 3],
    ["region=south", 2],
  ] as const;
  expect(await silencedAt("elsewhere", alert, [...two[0]], [...two[1]])).toEqual(["region=south", "region=north"]);
  expect(await silencedAt("elsewhere", alert, [...two[0]], ["camera_server=edge-7", 1])).toEqual([
    "camera_server=edge-7",
  ]);
});

test("a maintenance suppresses what all of its shops have one for", () => {
  const always = (region: string): Maintenance => ({
    name: region,
    comment: "",
    matchers: parseMatchers(`region=${region}`),
    timeIntervals: [{ name: "always", intervals: [{ location: "UTC" }] }],
  });
  const views = viewsOf(alertAbout(both));
  expect(maintenanceOf([always("north")], views, NOW)).toBeUndefined();
  expect(maintenanceOf([always("north"), always("south")], views, NOW)).toMatchObject({ reason: "maintenance" });
});

test("what inhibits one of the shops inhibits no alert about several; one about several inhibits as one about any", () => {
  const rule = {
    sourceMatchers: parseMatchers("region=north, alertname=A"),
    targetMatchers: parseMatchers("region=north, alertname!=A"),
    equal: [],
  };
  const named = (alert: Alert, alertname: string): Alert => ({
    ...alert,
    id: alertname,
    labels: { ...alert.labels, alertname },
  });
  const [one, several] = [alertAbout([{ region: "north" }]), alertAbout(both)];
  const inhibitor = (source: Alert, target: Alert) =>
    createInhibitor([rule])([named(source, "A"), named(target, "B")]).inhibitor(named(target, "B"))?.id;
  expect([inhibitor(one, several), inhibitor(several, one), inhibitor(one, one)]).toEqual([undefined, "A", "A"]);
});

test("what differs too much is left out first, and what is kept stays within bounds", () => {
  const many = Array.from({ length: 3_000 }, (_, i) => ({
    number: String(i),
    region: `r${i % 7}`,
    brand: `b${i % 6}`,
    hall: `h${i % 9}`,
  }));
  const { shops = [] } = alertAbout(many);
  expect(shops).toHaveLength(42);
  expect(new Set(shops.flatMap(Object.keys))).toEqual(new Set(["region", "brand"]));
  const long = Array.from({ length: 50 }, (_, i) => ({
    a: `${i}`.padEnd(200),
    b: `${i}`.padEnd(200),
    c: i % 2 ? "x" : "y",
  }));
  expect(JSON.stringify(alertAbout(long).shops).length).toBeLessThan(12_000);
});

test("an alert about several shops has the addresses of all of them, each once", () => {
  const subject = { kind: "group", id: "camera_server/edge-7" } as const;
  const of = (...all: readonly string[][]) =>
    addressesOf(
      { subject, labels: { location_id: "elsewhere" } },
      {
        shop: (id) => shop({}, { mail: all[Number(id)] ?? [] }),
        locationsOf: (label, value) =>
          label === "camera_server" && value === "edge-7" ? all.keys().map(String) : undefined,
      },
    ).get("mail");
  expect(of(["a@x.org"], ["a@x.org", "b@x.org"])).toEqual(new Set(["a@x.org", "b@x.org"]));
  expect(of(...Array.from({ length: 3_000 }, (_, i) => [`a${i}@x.org`]))?.size).toBe(3_000);
});

const byColumn = route("ops", "", [route("managers", "region=north", [], { columns: ["mail"] })]);
const ops = { ...anIntegration, id: "ops", receiver: "ops" };
const manager = (recipient: string) => ({
  ...anIntegration,
  id: recipient,
  receiver: "managers",
  recipient,
  columns: ["mail"],
});
const managers = [ops, manager("a@x.org"), manager("b@x.org")];
const northern: Alert = { ...alertAbout([{ region: "north" }]), subject: { kind: "location", id: "0" } };
const sentTo = (recipients: Shop["recipients"], integrations = managers) => {
  const directory = { shop: () => shop({}, recipients) };
  const alert = { ...northern, labels: { ...northern.labels, location_id: "0" } };
  const to = destinationsOf(alert, byColumn, integrations, directory);
  for (const integration of integrations) {
    const groups = to.flatMap((one) => (one.integration === integration.id ? one.group : []));
    const isRouted = to.some(({ group }) => isRoutedTo(alert, byColumn, integration, group, directory));
    expect(isRouted, integration.id).toBe(groups.length > 0);
  }
  return to.map(({ integration }) => integration);
};

test("a recipient in the directory is sent the alerts of that shop alone", () => {
  expect(sentTo({ mail: ["a@x.org"] })).toEqual(["a@x.org"]);
  expect(sentTo({ mail: ["a@x.org", "b@x.org"] })).toEqual(["a@x.org", "b@x.org"]);
});

test("without a recipient there, or with one that left the directory since, it goes to the default receiver", () => {
  expect(sentTo({})).toEqual(["ops"]);
  expect(routesOf(byColumn, alertAbout([{ region: "north" }]))).toEqual([byColumn]);
  expect(sentTo({ phone: ["a@x.org"] })).toEqual(["ops"]);
  expect(sentTo({ mail: ["left@x.org"] })).toEqual(["ops"]);
  expect(sentTo({ mail: ["a@x.org"] }, [ops])).toEqual(["ops"]);
});
