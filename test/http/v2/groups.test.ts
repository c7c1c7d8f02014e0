import { describe, expect, test } from "vitest";
import { parseMatchers } from "../../../src/alerting/matcher.ts";
import type { ActiveAlert } from "../../../src/http/deps.ts";
import type { AlertGroup } from "../../../src/http/v2/alerts.ts";
import { firingAlert, rootRoute, serve, shownConfig } from "../serve.ts";

const always = { name: "always", intervals: [{ location: "UTC" }] };
const route = {
  ...rootRoute,
  routes: [
    {
      ...rootRoute,
      key: '{}/{severity="warning"}/0',
      receiver: "quiet",
      matchers: parseMatchers('severity="warning"'),
      groupBy: ["alertname"],
      muteTimes: [always],
      continue: true,
    },
    {
      ...rootRoute,
      key: '{}/{severity="warning"}/1',
      receiver: "log",
      matchers: parseMatchers('severity="warning"'),
      groupBy: "..." as const,
    },
  ],
};
const receivers = ["ops", "quiet", "log"].map((name) => ({ name, slack: [], email: [], webhook: [] }));

const dark = (recording: string, location: string, differing: Partial<ActiveAlert> = {}): ActiveAlert => ({
  alert: firingAlert("RecordingOffline", { severity: "critical", recording, location_id: location }),
  receivers: ["ops"],
  ...differing,
});
const alerts: ActiveAlert[] = [
  dark("b", "leeds"),
  dark("a", "leeds", { silencedBy: ["5bd3a7a0-0000-4000-8000-000000000000"] }),
  dark("c", "york", { inhibitedBy: ["0123456789abcdef"] }),
  { alert: firingAlert("LowQuality", { severity: "warning" }), receivers: ["quiet", "log"] },
  { alert: { ...firingAlert("Gone"), state: "resolved", endsAt: 1, endReason: "recovered" }, receivers: ["ops"] },
];

async function groups(query = "", of: readonly ActiveAlert[] = alerts) {
  const { json } = await serve({ config: () => shownConfig({ route, receivers }), alerts: async () => of });
  return json(`/api/v2/alerts/groups?${query}`);
}

/** Receiver, labels and members of each group, in the order they came. */
const outline = (body: unknown) =>
  (body as AlertGroup[]).map(
    ({ receiver, labels, alerts: members }) =>
      `${receiver.name} ${JSON.stringify(labels)} ${members.map(({ labels: l }) => l.recording ?? l.alertname)}`,
  );

describe("GET /api/v2/alerts/groups", () => {
  test("groups what fires as its routes do, in the order of Alertmanager's label sets", async () => {
    const { status, body } = await groups();
    expect(status).toBe(200);
    expect(outline(body)).toEqual([
      'ops {"location_id":"leeds"} a,b',
      'ops {"location_id":"york"} c',
      'quiet {"alertname":"LowQuality"} LowQuality',
      'log {"alertname":"LowQuality","severity":"warning"} LowQuality',
    ]);
  });

  test("leaves out nothing that Karma and Go clients dereference", async () => {
    const [group] = (await groups("receiver=ops")).body as AlertGroup[];
    expect(group).toEqual({
      labels: { location_id: "leeds" },
      routeLabels: {},
      receiver: { name: "ops" },
      alerts: [
        expect.objectContaining({
          annotations: { summary: "It is dark." },
          receivers: [{ name: "ops" }],
          startsAt: "2026-01-31T11:57:00.000Z",
          status: {
            state: "suppressed",
            silencedBy: ["5bd3a7a0-0000-4000-8000-000000000000"],
            inhibitedBy: [],
            mutedBy: [],
          },
        }),
        expect.objectContaining({ status: { state: "active", silencedBy: [], inhibitedBy: [], mutedBy: [] } }),
      ],
    });
  });

  test("says of a muted group which interval mutes it, and of the same alert elsewhere nothing", async () => {
    const body = (await groups("filter=alertname%3DLowQuality")).body as AlertGroup[];
    expect(body.map(({ receiver, alerts: [alert] }) => [receiver.name, alert?.status, alert?.receivers])).toEqual([
      [
        "quiet",
        { state: "suppressed", silencedBy: [], inhibitedBy: [], mutedBy: ["always"] },
        [{ name: "log" }, { name: "quiet" }],
      ],
      ["log", { state: "active", silencedBy: [], inhibitedBy: [], mutedBy: [] }, [{ name: "log" }, { name: "quiet" }]],
    ]);
  });

  test.each([
    ["muted=false", ["leeds a,b", "york c", "log LowQuality"]],
    ["silenced=false", ["leeds b", "york c", "quiet LowQuality", "log LowQuality"]],
    ["inhibited=false", ["leeds a,b", "quiet LowQuality", "log LowQuality"]],
    ["active=false", ["leeds a", "york c", "quiet LowQuality"]],
    ["filter=recording%3D~%22a%7Cc%22", ["leeds a", "york c"]],
    ["filter=recording%3D%22%22", ["quiet LowQuality", "log LowQuality"]],
    ["filter=recording!%3D%22%22&filter=location_id!%3Dyork", ["leeds a,b"]],
    ["receiver=lo", []],
    ["receiver=lo.%7Cquiet", ["quiet LowQuality", "log LowQuality"]],
    ["receiver_matchers=team%3Da", []],
    ["unprocessed=false", ["leeds a,b", "york c", "quiet LowQuality", "log LowQuality"]],
  ])("?%s gives %j", async (query, expected) => {
    const { body } = await groups(query);
    const short = (body as AlertGroup[]).map(({ labels, receiver, alerts: members }) => {
      const names = members.map(({ labels: l }) => l.recording ?? l.alertname).join(",");
      return `${labels.location_id ?? receiver.name} ${names}`;
    });
    expect(short).toEqual(expected);
  });

  test.each(["muted=x", "filter=%7B", "receiver=(", "receiver_matchers=a"])(
    "?%s is a 400 whose body is a JSON string",
    async (query) => {
      const { status, body } = await groups(query);
      expect(status).toBe(400);
      expect(body).toEqual(expect.stringContaining(query.split("=")[0] ?? ""));
    },
  );

  test("sorts members by job and instance before anything else, as Alertmanager does", async () => {
    const of = (labels: Record<string, string>): ActiveAlert => ({
      alert: firingAlert("Own", labels),
      receivers: ["ops"],
    });
    const mixed = [
      of({ n: "last" }),
      of({ job: "b", instance: "1", n: "3" }),
      of({ job: "a", instance: "2", n: "2", z: "z" }),
      of({ job: "a", instance: "1", n: "1" }),
    ];
    const [group] = (await groups("", mixed)).body as AlertGroup[];
    expect(group?.alerts.map(({ labels }) => labels.n)).toEqual(["1", "2", "3", "last"]);
  });

  test("sorts fewer labels before more, whatever they say", async () => {
    const of = (labels: Record<string, string>): ActiveAlert => ({
      alert: firingAlert("Own", labels),
      receivers: ["ops"],
    });
    const [group] = (await groups("", [of({ n: "1", z: "x" }), of({ n: "2" })])).body as AlertGroup[];
    expect(group?.alerts.map(({ labels }) => labels.n)).toEqual(["2", "1"]);
  });

  test("labels named as what every object has are ordinary labels", async () => {
    const hostile: ActiveAlert[] = [
      { alert: firingAlert("A", { constructor: "x", location_id: "l" }), receivers: ["ops"] },
      { alert: firingAlert("A", { toString: "x", location_id: "l" }), receivers: ["ops"] },
    ];
    const [group] = (await groups("", hostile)).body as AlertGroup[];
    expect(group?.alerts.map(({ labels }) => Object.keys(labels)[1])).toEqual(["toString", "constructor"]);
  });
});

describe("GET /api/v2/receivers", () => {
  const ask = async (query = "") =>
    (await serve({ config: () => shownConfig({ receivers }) })).json(`/api/v2/receivers${query}`);

  test("names every receiver, in the order of the configuration", async () => {
    expect(await ask()).toEqual({
      status: 200,
      body: [
        { name: "ops", labels: {} },
        { name: "quiet", labels: {} },
        { name: "log", labels: {} },
      ],
    });
  });

  test.each([
    ["?receiver_matchers=team%3D%22%22", 200, 3],
    ["?receiver_matchers=team%3Dcameras", 200, 0],
    ["?receiver_matchers=team!%3Dcameras&receiver_matchers=team%3D%22%22", 200, 3],
  ])("%s: they have no labels", async (query, status, count) => {
    const answer = await ask(query);
    expect([answer.status, (answer.body as unknown[]).length]).toEqual([status, count]);
  });

  test("a matcher that is none is a 400 as a JSON string", async () => {
    expect(await ask("?receiver_matchers=%7B")).toEqual({
      status: 400,
      body: expect.stringMatching(/^receiver_matchers: column/),
    });
  });
});

test("a client has at most sixteen lists of alerts at once, so that slow readers fill no memory", async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<ActiveAlert[]>();
  const { address } = await serve({ alerts: () => released });
  const refused: string[] = [];
  const get = async (path: string) => {
    const response = await fetch(`${address}/api/v2/${path}`);
    const text = await response.text();
    if (response.status === 503 && refused.push(text) === 4) release([]);
    return response.status;
  };
  const all = await Promise.all(Array.from({ length: 20 }, (_, i) => get(i % 2 === 0 ? "alerts" : "alerts/groups")));
  expect(all.filter((status) => status === 200)).toHaveLength(16);
  expect(refused).toEqual(Array(4).fill('"Too many requests at once; try again in a few seconds."'));
  expect(await get("alerts/groups")).toBe(200);
});
