import { describe, expect, test } from "vitest";
import type { LogLine } from "../../src/alerting/decision-log.ts";
import type { HttpDeps } from "../../src/http/deps.ts";
import type { Incident } from "../../src/store/incidents.ts";
import { serve } from "../http/serve.ts";
import { fleetOf, NOW, recordingState } from "../metrics/fleets.ts";
import { lenswatch } from "./run-command.ts";

const HOUR = 3_600_000;
const env = { LENSWATCH_READ_TOKEN: "any" };
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

async function why(...given: (string | Partial<HttpDeps>)[]) {
  const argv = given.filter((one) => typeof one === "string");
  const { address } = await serve({
    ...Object.assign({}, ...given.filter((one) => typeof one !== "string")),
    fleet: async () => fleet,
    timeline: async (subjects, since) =>
      story.filter(
        ({ subject, at }) => at >= since && subjects.some(({ kind, id }) => kind === subject.kind && id === subject.id),
      ),
  });
  return lenswatch(["why", ...argv, "--url", address], env);
}

describe("lenswatch why", () => {
  test("prints the last day of a recording and its location in its own time zone, a heading for each day", async () => {
    const { stdout, stderr, exitCode } = await why("till 1");
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    expect(stdout).toBe(`Till 1 · Leeds · rec-1
offline since 2026-01-31 10:00 UTC (2 h)

Fri 30 Jan 2026, UTC
  23:00:00  seen offline

Sat 31 Jan 2026, UTC
  10:00:00  (location) LocationOffline: fires
  10:00:00  RecordingOffline: fires → 11:00:00 Slack
`);
    const all = await why("till 1", "--all");
    expect(all.stdout).toContain(
      "  10:00:00  RecordingOffline: fires\n  11:00:00  RecordingOffline: notified ops/slack/0\n",
    );
  });

  test("says of a recording with an unknown status that nothing evaluates it", async () => {
    const unknown = [
      recordingState("rec-1", { status: undefined, readAt: 0 }),
      recordingState("rec-2", { readAt: NOW - HOUR }),
    ];
    const { address } = await serve({ fleet: async () => fleetOf({ recordings: unknown }) });
    const stateOf = async (id: string) => (await lenswatch(["why", id, "--url", address], env)).stdout.split("\n")[1];
    expect(await stateOf("rec-1")).toBe("unknown: never read; it is not evaluated until the service gives its status");
    expect(await stateOf("rec-2")).toContain("unknown: not read since 2026-01-31 11:00 UTC (1 h); ");
  });

  test("says why rules on counts find nothing, of the recording and of its location", async () => {
    const verdicts = [
      { subject: { locationId: "loc-1" }, verdict: { is: "plausible", reason: "as_usual" } },
      { subject: { locationId: "loc-1", recordingId: "rec-1" }, verdict: { is: "undecided", reason: "zones_shared" } },
      { subject: { locationId: "loc-2", recordingId: "rec-3" }, verdict: { is: "undecided", reason: "no_data" } },
    ] as const;
    const rules = { "low/30": { verdicts, together: [] } };
    const { address } = await serve({
      fleet: async () => fleet,
      countsJudged: async () => ({ at: NOW - HOUR, rules, hours: [] }),
    });
    const told = async (id: string) => (await lenswatch(["why", id, "--url", address], env)).stdout.split("\n")[2];
    expect(await told("rec-1")).toBe(
      "counts (low/30, Sat 11:00): not compared, other recordings cover its zones too; the location: as usual",
    );
    expect(await told("rec-2")).toContain(": not evaluated, its counts were not read yet or it covers no zone; ");
    expect(await told("rec-3")).toMatch(/the service has no data; the location: not evaluated, /);
  });

  test("goes back as far as --since", async () => {
    expect((await why("rec-1", "--since", "1w")).stdout).toContain("seen degraded");
    expect((await why("rec-1", "--since", "30m")).stdout).toContain("No decisions in that time.");
    expect((await why("leeds", "--since", "30m")).stdout).toContain("No decisions about the location in that time; ");
  });

  test("prints the same entries as JSON", async () => {
    const { stdout } = await why("rec-1", "--output", "json");
    const told = JSON.parse(stdout);
    expect(told).toMatchObject({ recordingId: "rec-1", recording: "Till 1", location: "Leeds", timezone: "UTC" });
    expect(told.items.at(-1)).toEqual({
      at: "2026-01-31T11:00:00.000Z",
      about: { kind: "recording", id: "rec-1" },
      rule: "RecordingOffline",
      integration: "ops/slack/0",
      reason: "notified",
      detail: null,
      text: "RecordingOffline: notified ops/slack/0",
    });
  });

  test("lists recordings that share a name, as wrong usage", async () => {
    const { stdout, stderr, exitCode } = await why("Entrance");
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
    expect(stderr).toBe(`lenswatch: 2 recordings have that name; give an id:
  rec-2  Entrance · Leeds
  rec-3  entrance · York
`);
  });

  test("prints the decision log of a recording that left the fleet", async () => {
    expect((await why("left")).stdout).toContain("left the fleet, absent for watch.forget_after");
    expect((await why("gone")).stdout).toContain("Old door · Leeds · gone\nnot in the fleet\n");
  });

  test("prints the decision log of a location by its name, and what its outages cost", async () => {
    const cost = (over: Partial<Incident>): Incident => ({
      id: `i${over.alertname}`,
      ruleId: "",
      alertname: "LocationOffline",
      subject: { kind: "location", id: "loc-1" },
      locationId: "loc-1",
      startsAt: NOW - 2 * HOUR,
      endsAt: undefined,
      endReason: undefined,
      uncounted: { estimate: 312, low: 264, high: 369 },
      ...over,
    });
    const incidents = [
      cost({}),
      cost({ alertname: "RecordingOffline", subject: { kind: "recording", id: "rec-1" }, endsAt: NOW - HOUR }),
      cost({ alertname: "Elsewhere", subject: { kind: "location", id: "loc-2" }, locationId: "loc-2" }),
      cost({ alertname: "Slight", startsAt: NOW - 3 * HOUR, uncounted: { estimate: 4, low: 0, high: 9 } }),
    ];
    const said = await why("leeds", { incidents: async () => incidents });
    expect(said.stdout).toBe(`Leeds · loc-1
1 offline, 1 online of 2 recordings
LocationOffline, Sat 31 Jan 10:00 – now: about 310 visits uncounted so far (260–370)

Sat 31 Jan 2026, Europe/London
  10:00:00  LocationOffline: fires
`);
    const own = await why("rec-1", { incidents: async () => incidents });
    expect(own.stdout).toContain("RecordingOffline, Sat 31 Jan 10:00 – Sat 31 Jan 11:00: about 310 visits uncounted (");
    expect(own.stdout).toContain(
      "\n(location) LocationOffline, Sat 31 Jan 10:00 – now: about 310 visits uncounted so far",
    );
    expect(JSON.parse((await why("loc-1", "--output", "json")).stdout)).toMatchObject({
      locationId: "loc-1",
      uncounted: [],
    });
  });

  test("prints the decision log of a group by its label and value", async () => {
    expect((await why("camera_server/edge 7")).stdout).toBe(`camera_server/edge 7

Sat 31 Jan 2026, UTC
  11:00:00  CameraServerOffline: fires
`);
    const { stderr, exitCode } = await why("camera_server/edge 8");
    expect([exitCode, stderr]).toEqual([
      1,
      'lenswatch: no decision about "camera_server/edge 8" in that time; check its name, or give a longer --since\n',
    ]);
  });

  test("names similar recordings for an unknown one, exit code 1", async () => {
    const { stderr, exitCode } = await why("Til 1");
    expect({ stderr, exitCode }).toEqual({
      stderr: 'lenswatch: no recording or location has the id or name "Til 1"; similar:\n  rec-1  Till 1 · Leeds\n',
      exitCode: 1,
    });
    expect((await why("zzzzzzzz")).stderr).toBe(
      'lenswatch: no recording or location has the id or name "zzzzzzzz"; `lenswatch status` lists them\n',
    );
  });

  test("escapes slashes and question marks in an id", async () => {
    expect((await why("../locations?x=")).exitCode).toBe(1);
  });

  test("refuses an invalid duration", async () => {
    expect((await why("rec-1", "--since", "yesterday")).exitCode).toBe(2);
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
