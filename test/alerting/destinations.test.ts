import { describe, expect, it } from "vitest";
import { createMatcher } from "../../src/alerting/matcher.ts";
import { destinationsOf, isRoutedTo, type Route } from "../../src/alerting/route.ts";
import { planIntegrations } from "../../src/app/integrations.ts";
import { configOf, service } from "../config/text.ts";
import { firing, integration, MINUTE } from "../store/fixtures.ts";

const route = (more: Partial<Route>): Route => ({
  key: "{}",
  receiver: "ops",
  matchers: [],
  continue: false,
  groupBy: ["location_id"],
  groupWaitMs: 1,
  groupIntervalMs: 2,
  repeatIntervalMs: 3,
  routes: [],
  ...more,
});

const ops = integration("ops/slack/0");
const opsMail = integration("ops/email/0/a@example.com");
const quiet = integration("quiet/slack/0");
const all = [ops, opsMail, quiet];
const camera = firing("cam", 0, { location_id: "north", severity: "warning" });

it("an alert goes to every integration of its route's receiver, with the route's timers and group", () => {
  const to = destinationsOf(camera, route({}), all);
  expect(to.map(({ integration }) => integration)).toEqual([ops.id, opsMail.id]);
  expect(to[0]).toMatchObject({
    labels: { location_id: "north" },
    groupWaitMs: 1,
    groupIntervalMs: 2,
    repeatIntervalMs: 3,
  });
  expect(new Set(to.map(({ group }) => group)).size).toBe(1);
});

it("two routes to one receiver with their own groups are two places; to the same group, one, the first's timers", () => {
  const warning = [createMatcher("severity", "=", "warning")];
  const twice = route({
    routes: [
      route({ key: "{}/0", matchers: warning, continue: true }),
      route({ key: "{}/1", matchers: warning, groupBy: [], continue: true }),
      route({ key: "{}/0", matchers: warning, groupIntervalMs: MINUTE }),
    ],
  });
  const to = destinationsOf(camera, twice, [ops]);
  expect(to.map(({ integration, groupIntervalMs }) => [integration, groupIntervalMs])).toEqual([
    [ops.id, 2],
    [ops.id, 2],
  ]);
  expect(to[0]?.group).not.toBe(to[1]?.group);
});

it("labels are routed to the groups of their destinations, and to no other receiver or group", () => {
  const everywhere = route({
    routes: [route({ key: "{}/0", receiver: "quiet", continue: true }), route({ key: "{}/1", groupBy: [] })],
  });
  const groups = destinationsOf(camera, everywhere, all).map(({ integration: id, group }) => [id.split("/")[0], group]);
  for (const receiver of ["ops", "quiet", "nobody"]) {
    for (const [, group = ""] of [...groups, ["", "another"]]) {
      const isDestination = groups.some(([name, id]) => name === receiver && id === group);
      expect(isRoutedTo(camera, everywhere, { receiver }, group), `${receiver} ${group}`).toBe(isDestination);
    }
  }
});

it("a receiver without integrations is nobody", () => {
  expect(destinationsOf(camera, route({ receiver: "nobody" }), all)).toEqual([]);
});

it("that an integration fails is told by every other one, never by itself, whichever route leads there", () => {
  const failing = { ...firing("x"), subject: { kind: "integration", id: ops.id } as const };
  const everywhere = route({
    routes: [
      route({ key: "{}/0", continue: true }),
      route({ key: "{}/1", receiver: "quiet", continue: true }),
      route({ key: "{}/2", groupBy: "..." }),
    ],
  });
  const to = destinationsOf(failing, everywhere, all).map(({ integration }) => integration);
  expect(new Set(to)).toEqual(new Set([opsMail.id, quiet.id]));
  expect(destinationsOf(failing, route({}), [ops])).toEqual([]);
});

it("that an endpoint fails as a whole is told by no integration that uses it", () => {
  const mails = ["a", "b", "c"].map((who) => integration(`ops/email/0/${who}@example.com`, { endpoint: "smtp" }));
  const failing = (endpoint?: string) => ({
    ...firing("x"),
    subject: { kind: "integration", id: mails[0]?.id ?? "" } as const,
    facts: { timezone: "UTC", endpoint },
  });
  const told = (endpoint?: string) =>
    destinationsOf(failing(endpoint), route({}), [...mails, ops]).map((to) => to.integration);
  expect(told("smtp")).toEqual([ops.id]);
  expect(told()).toEqual([mails[1]?.id, mails[2]?.id, ops.id]);
});

describe("programs", () => {
  const config = configOf(`${service}
receivers:
  - name: ops
    webhook_configs: [{ url: "https://a.example/secret", secret: secret, send_resolved: false }]
    alertmanager_configs: [{ url: "https://am.example", resend_interval: 1m }]
`);
  const plans = planIntegrations(config);
  const made = plans.map(({ integration }) => integration);
  const to = destinationsOf(camera, route({ stormGroups: 10 }), made);

  it("are integrations like any other, that wait for nobody", () => {
    expect(made).toMatchObject([
      { id: "ops/webhook/0", type: "webhook", sendResolved: false, paceMs: 0, everyGroup: true },
      { id: "ops/alertmanager/0", type: "alertmanager", sendResolved: true, paceMs: 0, resendMs: MINUTE },
    ]);
    expect(JSON.stringify(made)).not.toContain("secret");
  });

  it("get every group by itself at the times of its route, where they are webhooks", () => {
    expect(to[0]).toMatchObject({ groupWaitMs: 1, groupIntervalMs: 2, repeatIntervalMs: 3 });
    expect(to[0]?.stormGroups).toBeUndefined();
  });

  it("get all there is at once and again and again, where they are Alertmanagers", () => {
    expect(to[1]).toMatchObject({
      group: to[0]?.group,
      groupWaitMs: 0,
      groupIntervalMs: 1_000,
      repeatIntervalMs: MINUTE,
      stormGroups: 1,
    });
  });
});
