import { describe, expect, test } from "vitest";
import type { LogLine } from "../../src/alerting/decision-log.ts";
import { incidentsOf } from "../../src/alerting/incident.ts";
import type { ExitCode } from "../../src/commands/cli/command.ts";
import type { StoredEpisode } from "../../src/store/episodes.ts";
import { serve } from "../http/serve.ts";
import { fleetOf, NOW, recordingState } from "../metrics/fleets.ts";
import { anEpisode } from "../support/fixtures.ts";
import { lenswatch } from "./run-command.ts";

const HOUR = 3_600_000;
const fleet = fleetOf({
  recordings: [
    recordingState("rec-1", { status: "offline", since: NOW - 2 * HOUR }),
    recordingState("rec-2"),
    recordingState("rec-3", { locationId: "loc-2" }),
  ],
  names: { "rec-1": "Till 1", "rec-2": "Entrance", "rec-3": "entrance", gone: "Old door" },
  locations: [
    { id: "loc-1", name: "Leeds" },
    { id: "loc-2", name: "York" },
  ],
});

const recording = (id: string, at: number, reason: string, more: Partial<LogLine> = {}): LogLine => ({
  subject: { kind: "recording", id },
  at,
  ruleId: undefined,
  reason,
  ...more,
});
const story: readonly LogLine[] = [
  recording("rec-1", NOW - 30 * HOUR, "observed_degraded"),
  recording("rec-1", NOW - 13 * HOUR, "observed_offline"),
  recording("rec-1", NOW - 2 * HOUR, "firing", { ruleId: "RecordingOffline" }),
  {
    ...recording("", NOW - 2 * HOUR, "firing", { ruleId: "LocationOffline" }),
    subject: { kind: "location", id: "loc-1" },
  },
  recording("rec-1", NOW - HOUR, "notified", { ruleId: "RecordingOffline", integration: "ops/slack/0" }),
  recording("left", NOW - HOUR, "forgotten"),
  {
    ...recording("", NOW - HOUR, "firing", { ruleId: "CameraServerOffline" }),
    subject: { kind: "group", id: "camera_server/edge 7" },
  },
];

type Deps = NonNullable<Parameters<typeof serve>[0]>;

async function why(argv: readonly string[], deps: Deps = {}) {
  const { address } = await serve({
    fleet: async () => fleet,
    timeline: async (subjects, since) =>
      story.filter(
        ({ subject, at }) => at >= since && subjects.some(({ kind, id }) => kind === subject.kind && id === subject.id),
      ),
    ...deps,
  });
  return lenswatch(["why", ...argv, "--url", address], { LENSWATCH_READ_TOKEN: "any", TZ: "Europe/Berlin" });
}

const unknown = async () =>
  fleetOf({
    recordings: [
      recordingState("rec-1", { status: undefined, readAt: 0 }),
      recordingState("rec-2", { readAt: NOW - HOUR }),
    ],
  });
const verdicts = [
  { subject: { locationId: "loc-1" }, verdict: { is: "plausible", reason: "as_usual" } },
  { subject: { locationId: "loc-1", recordingId: "rec-1" }, verdict: { is: "undecided", reason: "zones_shared" } },
  { subject: { locationId: "loc-2", recordingId: "rec-3" }, verdict: { is: "undecided", reason: "no_data" } },
] as const;
const rules = { "low/30": { verdicts, together: [] } };
const counted: Deps = { countsJudged: async () => ({ at: NOW - HOUR, rules, hours: [] }) };
const cost = (over: Partial<StoredEpisode>) =>
  anEpisode(NOW - 2 * HOUR, undefined, {
    ...{
      alertname: "LocationOffline",
      problem: "offline",
      locationId: "loc-1",
      subject: { kind: "location", id: "loc-1" },
    },
    uncounted: { estimate: 312, low: 264, high: 369 },
    ...over,
  });
const outages = [
  cost({}),
  cost({ alertname: "RecordingOffline", subject: { kind: "recording", id: "rec-1" }, endsAt: NOW - HOUR }),
  cost({ alertname: "Elsewhere", subject: { kind: "location", id: "loc-2" }, locationId: "loc-2" }),
  cost({ alertname: "Slight", startsAt: NOW - 3 * HOUR, uncounted: { estimate: 4, low: 0, high: 9 } }),
];
const cut = incidentsOf(outages).find(({ episodes }) => episodes.length > 1)?.id ?? "";
const costly: Deps = { episodes: async () => outages };

describe("lenswatch why", () => {
  test.each<[string, string[], Deps?]>([
    ["the last day of a recording and its location", ["till 1"]],
    ["--all: a line for each decision", ["till 1", "--all"]],
    ["as far back as --since", ["rec-1", "--since", "1w"]],
    ["that there were no decisions", ["rec-1", "--since", "30m"]],
    ["that there were none about a location", ["leeds", "--since", "30m"]],
    ["that a status was never read, so that nothing evaluates it", ["rec-1"], { fleet: unknown }],
    ["that a status was not read for long", ["rec-2"], { fleet: unknown }],
    ["why rules on counts find nothing of a recording and its location", ["rec-1"], counted],
    ["that no counts were read", ["rec-2"], counted],
    ["that the service has no counts", ["rec-3"], counted],
    ["the decisions about a recording that left the fleet", ["left"]],
    ["that a known recording is not in the fleet", ["gone"]],
    ["a location by its name, and what its outages cost", ["leeds"], costly],
    ["what outages of a recording and its location cost", ["rec-1"], costly],
    ["a group by its label and value", ["camera_server/edge 7"]],
    ["an incident by its id", [cut.toLowerCase()], costly],
  ])("prints %s", async (_, argv, deps) => {
    const { stdout, stderr, exitCode } = await why(argv, deps);
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    expect(`\n${stdout}`).toMatchSnapshot();
  });

  test("prints the same entries as JSON", async () => {
    const told = JSON.parse((await why(["rec-1", "--output", "json"])).stdout);
    expect(told).toMatchObject({ recordingId: "rec-1", recording: "Till 1", location: "Leeds", timezone: "UTC" });
    expect(told.items.at(-1)).toEqual({
      at: "2026-01-31T11:00:00.000Z",
      about: { kind: "recording", id: "rec-1", name: "Till 1 · Leeds" },
      rule: "RecordingOffline",
      integration: "ops/slack/0",
      reason: "notified",
      detail: null,
      until: null,
      eta: null,
      text: "RecordingOffline: notified Slack (ops)",
    });
    const place = JSON.parse((await why(["loc-1", "--output", "json"])).stdout);
    expect(place).toMatchObject({ locationId: "loc-1", uncounted: [] });
  });

  test.each<[string[], ExitCode, string]>([
    [
      ["Entrance"],
      2,
      "2 recordings have that name; give an id:\n  rec-2  Entrance · Leeds\n  rec-3  entrance · York\n",
    ],
    [
      ["camera_server/edge 8"],
      1,
      'no decision about "camera_server/edge 8" in that time; check its name, or give a longer --since\n',
    ],
    [["Til 1"], 1, 'no recording or location has the id or name "Til 1"; similar:\n  Till 1 · Leeds\n'],
    [["I-00000"], 1, 'no recording or location has the id or name "I-00000"'],
    [["zzzzzzzz"], 1, 'no recording or location has the id or name "zzzzzzzz"; `lenswatch status` lists them\n'],
    [["../locations?x="], 1, "no recording or location has the id or name"],
    [["rec-1", "--since", "soon"], 2, "It must be a day or time such as 7d"],
  ])("%j is exit code %i", async (argv, exitCode, message) => {
    expect(await why(argv)).toEqual({ exitCode, stdout: "", stderr: expect.stringContaining(message) });
  });
});

describe("GET /api/v1/recordings/{id}/timeline", () => {
  test("pages entries with equal times without losing or repeating any", async () => {
    const lines = Array.from({ length: 7 }, (_, i) => recording("rec-1", NOW - HOUR, `reason_${i}`));
    const { json } = await serve({ fleet: async () => fleet, timeline: async () => lines });
    const reasons: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const { body } = await json(`/api/v1/recordings/rec-1/timeline?limit=3${cursor && `&cursor=${cursor}`}`);
      const page = body as { items: { reason: string }[]; nextCursor: string | null };
      reasons.push(...page.items.map(({ reason }) => reason));
      cursor = page.nextCursor;
    }
    expect(reasons).toEqual(lines.map(({ reason }) => reason));
  });

  test("is 404 for an unknown recording, 400 for an invalid time, 401 without the token", async () => {
    const { json } = await serve({ fleet: async () => fleet });
    expect(await json("/api/v1/recordings/nobody/timeline")).toEqual({
      status: 404,
      body: { error: { code: "not_found", message: "There is no recording or location with this id." } },
    });
    expect((await json("/api/v1/recordings/rec-1/timeline?since=noon")).status).toBe(400);
    const closed = await serve({ fleet: async () => fleet, readToken: "secret" });
    expect((await closed.json("/api/v1/recordings/rec-1/timeline")).status).toBe(401);
  });
});
