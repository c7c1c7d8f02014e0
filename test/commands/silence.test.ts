import { describe, expect, test } from "vitest";
import { fingerprint } from "../../src/alerting/fingerprint.ts";
import { incidentsOf } from "../../src/alerting/incident.ts";
import { formatMatcher } from "../../src/alerting/matcher.ts";
import type { ApiIncident } from "../../src/http/v1/incidents.ts";
import { toStoredEpisode } from "../../src/store/episodes.ts";
import { rule } from "../health/shard-history.ts";
import { firingAlert, serve, shownConfig } from "../http/serve.ts";
import { holdsInMemory } from "../http/silences.ts";
import { fleetOf, NOW, recordingState } from "../metrics/fleets.ts";
import { aSilence } from "../support/fixtures.ts";
import { lenswatch } from "./run-command.ts";

const HOUR = 3_600_000;
const env = { LENSWATCH_ADMIN_TOKEN: "s3cret", USER: "dana" };
const fleet = fleetOf({
  recordings: ["rec-1", "rec-2", "rec-3"].map((id) =>
    recordingState(id, id === "rec-3" ? { locationId: "loc-2" } : {}),
  ),
  names: { "rec-1": "Till 1", "rec-2": "Entrance", "rec-3": "Entrance" },
  locations: [
    { id: "loc-1", name: "Leeds Briggate" },
    { id: "loc-2", name: "York" },
  ],
});
const rules = ["RecordingOffline", "LowQuality"].map((alert) =>
  rule(alert, { kind: "status", status: "offline" }, { labels: { severity: "warning" } }),
);

async function open(
  more: Record<string, string> = {},
  firing = [firingAlert("RecordingOffline")],
  clock = { now: NOW },
) {
  const { deps, ...memory } = holdsInMemory({ now: () => clock.now }, firing);
  const config = () => shownConfig({ rules });
  const alerts = async () => firing.map((alert) => ({ alert, receivers: ["ops"] }));
  const episodes = async () => firing.map(toStoredEpisode);
  const { address } = await serve({
    ...deps,
    adminToken: "s3cret",
    fleet: async () => fleet,
    alerts,
    episodes,
    config,
  });
  const run = (...argv: string[]) => lenswatch([...argv, "--url", address], { ...env, ...more });
  const add = (...argv: string[]) => run("silence", "add", ...argv, "--comment", "rewiring");
  return { run, add, address, ...memory };
}

const NOTHING = "matches no alert and no recording that is known: check its names. --anyway";

describe("lenswatch silence add", () => {
  test("silences the alerts that all matchers match, for the given duration", async () => {
    const { add, kept } = await open();
    const args = ["alertname=RecordingOffline", "location=Leeds Briggate", "severity!~info|none", "--duration", "2h"];
    const said = await add(...args, "--author", "sam");
    const [silence] = kept.values();
    expect(said).toEqual({
      stdout: `Silence ${silence?.id.slice(0, 8)} silences alertname="RecordingOffline", location="Leeds Briggate", severity!~"info|none" for 2 h.\nNo firing alert matches; it covers 2 of 3 recordings.\n`,
      stderr: "",
      exitCode: 0,
    });
    const within = { startsAt: NOW, endsAt: NOW + 2 * HOUR };
    expect(silence).toMatchObject({ ...within, createdBy: "sam", comment: "rewiring" });
  });

  test.each([
    [["alertname=RecordingOffline"], "1 firing alert silenced; it covers 3 of 3 recordings."],
    [["location=Leeds Briggate"], "No firing alert matches; it covers 2 of 3 recordings."],
    [["location=Leeds Brigate", "--anyway"], "It matches nothing that is known."],
    [["team=ops", "--anyway"], "It matches nothing that is known."],
  ])("says what %j does at once", async (args, effect) => {
    const { add } = await open();
    const { stdout, exitCode } = await add(...args);
    expect([exitCode, stdout.split("\n")[1]]).toEqual([0, effect]);
  });

  test.each([
    [["Leeds Briggate"], 'location_id="loc-1"', "Leeds Briggate"],
    [
      ["leeds", "briggate", "severity=warning"],
      'location_id="loc-1", severity="warning"',
      'Leeds Briggate, severity="warning"',
    ],
    [["rec-1"], 'recording_id="rec-1"', "Till 1 · Leeds Briggate"],
    [["CS"], 'camera_server="cs"', "camera server cs"],
  ])("takes %j by its name", async (what, matchers, words) => {
    const { add, run, kept } = await open();
    expect((await add(...what)).stdout).toContain(` silences ${words} for 1 h.\n`);
    expect([...kept.values()].map((one) => one.matchers.map(formatMatcher).join(", "))).toEqual([matchers]);
    expect((await run("silence", "list")).stdout).toContain(`\n${words}\n  ends in 1 h `);
  });

  test.each([
    [["recording", "rec-1"], 'recording_id="rec-1"'],
    [["location", "loc-1"], 'location_id="loc-1"'],
    [["group", "camera_server/cs"], 'camera_server="cs"'],
  ] as const)("takes an incident of %j by its id", async ([kind, id], matcher) => {
    const firing = [{ ...firingAlert("RecordingOffline"), subject: { kind, id } }];
    const { add, address, kept } = await open({}, firing);
    const headers = { authorization: "Bearer s3cret" };
    const { items } = (await (await fetch(`${address}/api/v1/incidents`, { headers })).json()) as {
      items: ApiIncident[];
    };
    const [incident] = items;
    const { stdout, stderr } = await add(incident?.id ?? "");
    expect([stdout, stderr]).toEqual([
      expect.stringContaining(` silences ${incident?.title} · ${incident?.id} for 1 h.`),
      "",
    ]);
    expect([...kept.values()].map((one) => one.matchers.map(formatMatcher).join(", "))).toEqual([matcher]);
  });

  test("refuses an incident of whole locations and of cameras at others, which are not to be silenced as a whole", async () => {
    const firing = Array.from({ length: 12 }, (_, i) => {
      const [kind, problem] = i < 9 ? (["location", "location_offline"] as const) : (["recording", "offline"] as const);
      const alert = firingAlert("RecordingOffline", { location_id: `l${i}`, recording_id: `r${i}` });
      const subject = { kind, id: kind === "location" ? `l${i}` : `r${i}` };
      return { ...alert, id: `x/${i}@1`, subject, facts: { ...alert.facts, problem } };
    });
    const [incident, ...others] = incidentsOf(firing.map(toStoredEpisode));
    expect(others).toEqual([]);
    const { add, kept } = await open({}, firing);
    expect(await add(incident?.id ?? "")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("use its page"),
    });
    expect(kept.size).toBe(0);
  });

  test.each([
    [["Leeds Brigate"], 'no recording or location has the id or name "Leeds Brigate"; similar:\n  Leeds Briggate'],
    [["Entrance"], "2 recordings have that name; give an id:\n  rec-2  Entrance · Leeds Briggate\n  rec-3  Entrance"],
    [["location=Leeds Brigate"], 'has the id or name "Leeds Brigate"; did you mean "Leeds Briggate" (loc-1). --anyway'],
    [["location=~Brigate"], NOTHING],
    [["recording_id=rec-9"], 'no recording has the id or name "rec-9"; did you mean "Till 1" (rec-1), '],
    [["alertname=RecordingOfline"], 'nothing has the alertname "RecordingOfline"; did you mean "RecordingOffline"'],
    [["severity=warnin"], 'nothing has the severity "warnin"; did you mean "warning". --anyway'],
    [["severity=~warnin"], NOTHING],
    [["camera_server=cs1"], 'nothing has the camera_server "cs1"; did you mean "cs". --anyway'],
    [["loction=Leeds Briggate"], NOTHING],
    [["location=Leeds Briggate", "location_id=loc-2"], NOTHING],
  ])("refuses %j, which is nothing or not one thing, with exit code 2", async (what, message) => {
    const { add, kept } = await open();
    expect(await add(...what)).toEqual({ exitCode: 2, stdout: "", stderr: expect.stringContaining(message) });
    expect(kept.size).toBe(0);
  });

  test.each([
    [["--start", "tomorrow 22:00"], "from DAY 22:00 GMT until DAY 23:00 GMT", 34, 1],
    [["--start", "+2h", "--for", "30m"], "from 14:00 GMT until 14:30 GMT", 2, 0.5],
    [["--until", "22:00"], "until 22:00 GMT", 0, 10],
  ])("%j is %s, in the zone of the terminal", async (args, words, after, hours) => {
    const { add, kept } = await open({ TZ: "Europe/London" });
    const { stdout } = await add("location=Leeds Briggate", ...args);
    expect(stdout.replaceAll(/\w{3} \d+ \w{3}(?= \d)/g, "DAY")).toContain(` location="Leeds Briggate" ${words}.\n`);
    const startsAt = NOW + after * HOUR;
    expect([...kept.values()]).toMatchObject([{ startsAt, endsAt: startsAt + hours * HOUR }]);
  });

  test("is in the zone of the terminal, with the time at the location; a pending one says when it begins", async () => {
    const { run, add, kept } = await open({ TZ: "America/New_York" });
    const { stdout } = await add("alertname=RecordingOffline", "--start", "22:00");
    expect(stdout).toContain("from 22:00 EST until 23:00 EST.\n1 firing alert would match now; it covers");
    expect((await add("Leeds Briggate", "--until", "22:00")).stdout).toContain("until 22:00 EST (Sun 03:00 GMT).\n");
    expect([...kept.values()]).toMatchObject([{ startsAt: NOW + 15 * HOUR }, { endsAt: NOW + 15 * HOUR }]);
    expect((await run("silence", "list")).stdout).toContain(
      '\nalertname="RecordingOffline"\n  begins in 15 h, for 1 h ',
    );
  });

  test("accepts quoted values, defaults to an hour and $USER; --output json prints the id", async () => {
    const { add, kept } = await open();
    const { stdout } = await add('location="Leeds, \\"North\\""', "--anyway", "--output", "json");
    const [silence] = kept.values();
    expect(JSON.parse(stdout)).toEqual({ silenceID: silence?.id });
    const matchers = [{ value: 'Leeds, "North"' }];
    expect(silence).toMatchObject({ endsAt: NOW + HOUR, createdBy: "dana", matchers });
  });

  test.each([
    [2, "missing required argument", []],
    [2, "location=~( is no matcher such as severity=warning", ["location=~("]],
    [2, "It must be a duration such as", ["a=b", "--duration", "soon"]],
    [2, "--start must be a time such as", ["location=Leeds Briggate", "--start", "soon"]],
    [2, "--start today 11:00 has passed in ", ["location=Leeds Briggate", "--start", "today 11:00"]],
    [2, "--until must be after --start", ["a=b", "--start", "+2h", "--until", "+1h"]],
    [2, "cannot be used with", ["a=b", "--until", "22:00", "--for", "2h"]],
    [1, "must not match the empty string", ["a=~.*"]],
  ])("is exit code %i and %j with %j", async (exitCode, message, args) => {
    const { add, kept } = await open();
    expect(await add(...args)).toEqual({ exitCode, stdout: "", stderr: expect.stringContaining(message) });
    expect(kept.size).toBe(0);
  });

  test.each([
    [{}, /no http\.admin_token is configured/],
    [
      { adminToken: "another" },
      /set LENSWATCH_ADMIN_TOKEN to .*http\.admin_token, or .*http\.tokens with the scope silence\n$/,
    ],
    [
      { adminToken: "another", readToken: "s3cret" },
      /: The token read_token lacks the scope silence: set LENSWATCH_ADMIN_TOKEN to /,
    ],
  ])("is exit code 1 with the next step at a daemon with the tokens %j", async (tokens, message) => {
    const { address } = await serve(tokens);
    const { exitCode, stderr } = await lenswatch(
      ["silence", "add", "a=b", "--anyway", "--comment", "x", "--url", address],
      env,
    );
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(message)]);
    expect(stderr).not.toContain("s3cret");
  });
});

describe("lenswatch silence extend", () => {
  test("lets one end later in place, by how its id begins, and none earlier", async () => {
    const { run, add, kept } = await open({ TZ: "Europe/London" });
    await add("location=Leeds Briggate", "--duration", "1h");
    const [id = ""] = kept.keys();
    const before = {
      id,
      startsAt: NOW,
      createdBy: "dana",
      comment: "rewiring",
      matchers: [{ value: "Leeds Briggate" }],
    };
    for (const [given, said, hours] of [
      [["--for", "2h"], "15:00 GMT, for another 3 h", 3],
      [["--until", "22:00"], "22:00 GMT, for another 10 h", 10],
    ] as const) {
      const stdout = `Silence ${id.slice(0, 8)} lasts until ${said}.\n`;
      expect(await run("silence", "extend", id.slice(0, 8).toUpperCase(), ...given)).toEqual({
        stdout,
        stderr: "",
        exitCode: 0,
      });
      expect([...kept.values()]).toMatchObject([{ ...before, endsAt: NOW + hours * HOUR }]);
    }
    const refused = async (...argv: string[]) => {
      const { stderr, exitCode } = await run("silence", "extend", ...argv);
      expect(exitCode).not.toBe(0);
      return stderr;
    };
    expect(await refused(id, "--until", "14:00")).toContain("lasts longer than that already");
    await run("silence", "expire", id.slice(0, 6));
    expect(await refused(id)).toContain("is over: set it again");
    expect(await refused("ffff")).toContain('There is no silence "ffff"');
    expect(kept.size).toBe(1);
  });
});

describe("lenswatch silence undo", () => {
  test("restores what was before the last change, once", async () => {
    const clock = { now: NOW };
    const { run, add, kept } = await open({ TZ: "UTC" }, undefined, clock);
    await add("Leeds Briggate", "--for", "1h");
    const [id = ""] = kept.keys();
    const undo = async () => (await run("silence", "undo", id.slice(0, 8))).stdout;
    const lasts = (hours: number) => expect([...kept.values()]).toMatchObject([{ id, endsAt: NOW + hours * HOUR }]);
    await run("silence", "extend", id, "--for", "2h");
    lasts(3);
    expect(await undo()).toBe(`Silence ${id.slice(0, 8)} lasts until 13:00 UTC again.\n`);
    lasts(1);
    await run("silence", "expire", id);
    lasts(0);
    await undo();
    lasts(1);
    const refused = { exitCode: 1, stderr: expect.stringContaining("no change in the last 15 minutes") };
    expect(await run("silence", "undo", id)).toMatchObject(refused);
    await run("silence", "extend", id, "--for", "2h");
    clock.now += 15 * 60_000;
    expect(await run("silence", "undo", id)).toMatchObject(refused);
    lasts(3);
  });

  test("expires one that was just set, and a second one leaves it so", async () => {
    const { run, add, kept } = await open({ TZ: "UTC" });
    await add("Leeds Briggate", "--for", "1h");
    const [id = ""] = kept.keys();
    expect((await run("silence", "undo", id)).stdout).toBe(`Silence ${id.slice(0, 8)} is expired.\n`);
    expect(await run("silence", "undo", id)).toMatchObject({ exitCode: 1 });
    expect([...kept.values()]).toMatchObject([{ endsAt: NOW }]);
  });
});

describe("lenswatch silence list and expire", () => {
  test("list prints active silences, with --expired also expired ones", async () => {
    const { run, kept } = await open();
    expect((await run("silence", "list")).stdout).toBe("No silences.\n");
    await run("silence", "add", "location=Leeds Briggate", "--comment", "re\u001b[31mwiring", "--duration", "90m");
    const [id = ""] = kept.keys();
    expect((await run("silence", "list")).stdout).toMatch(
      new RegExp(
        `^  WHEN .*ID\nlocation="Leeds Briggate"\n  ends in 1 h 30 m +dana +re\\[31mwiring +${id.slice(0, 8)}\n\n1 silence\n$`,
      ),
    );
    expect(await run("silence", "expire", id)).toEqual({
      stdout: `Silence ${id.slice(0, 8)} expired; to restore it: lenswatch silence undo ${id.slice(0, 8)}\n`,
      stderr: "",
      exitCode: 0,
    });
    expect((await run("silence", "list")).stdout).toBe("No silences.\n");
    const expired = JSON.parse((await run("silence", "list", "--expired", "--output", "json")).stdout);
    expect(expired).toMatchObject([{ id, status: { state: "expired" } }]);
  });

  test.each([
    ["no/such", 1, 'There is no silence "no/such": `lenswatch silence list` prints the ids\n'],
    ["0b1c", 2, "2 silences have an id that begins with 0b1c: give more of it\n"],
    ["0b1c2d3e-0000-4000-8000-000000000001", 0, undefined],
  ])("expire of %s is exit code %i", async (prefix, exitCode, message) => {
    const { run, kept } = await open();
    for (const last of ["1", "2"]) {
      const id = `0b1c2d3e-0000-4000-8000-00000000000${last}`;
      kept.set(id, aSilence({ id, startsAt: NOW - 1_000, endsAt: NOW + 1_000_000 }));
    }
    const stderr = message ? `lenswatch: ${message}` : "";
    expect(await run("silence", "expire", prefix)).toMatchObject({ exitCode, stderr });
  });
});

describe("lenswatch ack", () => {
  const print = fingerprint({ alertname: "RecordingOffline" });

  test("acknowledges, in the time of the terminal, and names whose it replaces; is withdrawn and noted", async () => {
    const { run, acks } = await open({ TZ: "America/New_York" });
    const ack = async (...argv: string[]) => (await run("ack", print.toUpperCase(), ...argv)).stdout;
    const title = "RecordingOffline";
    expect(await ack("--comment", "on my way")).toBe(`Acknowledged ${title}: no reminders until it resolves.\n`);
    expect([...acks.values()]).toEqual([{ author: "dana", comment: "on my way", at: NOW, last: { at: NOW } }]);
    expect(await ack("--author", "lee\u001b[2J", "--for", "2h")).toMatch(
      / until 09:00 EST\. This replaces .* of dana\.\n$/,
    );
    expect([...acks.values()]).toMatchObject([{ until: NOW + 2 * HOUR }]);
    expect(await ack()).toMatch(/ until it resolves\. This replaces the acknowledgement of lee\[2J\.\n$/);
    expect(await ack("--note", "the fuse?", "--author", "sam")).toBe(`Added the note to ${title}.\n`);
    expect(await ack("--withdraw")).toBe(`Withdrew the acknowledgement of ${title}: reminders resume.\n`);
    expect([...acks.values()]).toMatchObject([
      { until: NOW, notes: [{ text: "on my way" }, { author: "sam", text: "the fuse?" }] },
    ]);
  });

  test("has an owner and an ETA; the last change can be undone for 15 minutes, which restores what was before", async () => {
    const clock = { now: NOW };
    const { run, acks } = await open({ TZ: "UTC" }, undefined, clock);
    const ack = async (...argv: string[]) => (await run("ack", print.slice(0, 8), ...argv)).stdout;
    expect(await ack("--by", "amy", "--eta", "13:30", "--for", "2h")).toBe(
      "Acknowledged RecordingOffline: no reminders until 14:00 UTC, ETA 13:30 UTC.\n",
    );
    const first = { author: "amy", eta: NOW + 1.5 * HOUR, until: NOW + 2 * HOUR };
    expect([...acks.values()]).toMatchObject([first]);
    await ack("--by", "lee");
    expect([...acks.values()]).toMatchObject([{ author: "lee" }]);
    expect(await ack("--undo")).toBe("Undid the last change of the acknowledgement of RecordingOffline.\n");
    expect([...acks.values()]).toMatchObject([first]);
    const refused = expect.stringContaining("no change in the last 15 minutes");
    expect(await run("ack", print, "--undo")).toMatchObject({ exitCode: 1, stderr: refused });
    await ack("--by", "lee");
    clock.now += 15 * 60_000;
    expect(await run("ack", print, "--undo")).toMatchObject({ exitCode: 1, stderr: refused });
    await ack("--by", "amy", "--eta", "13:30", "--for", "2h");
    first.until += 15 * 60_000;
    await ack("--withdraw");
    await ack("--undo");
    expect([...acks.values()]).toMatchObject([first]);
    expect(await run("ack", print, "--eta", "yesterday")).toMatchObject({ exitCode: 2 });
  });

  test.each([
    [["0000000000000000"], 1, /^lenswatch: No firing alert has this fingerprint, .*: `lenswatch status --alerts /],
    [["../silences"], 1, /^lenswatch: no alert has the id or name/],
    [[print, "--withdraw"], 1, /^lenswatch: The alert is not acknowledged: `lenswatch status --alerts /],
    [[print, "--for", "2y"], 1, /of a year at most/],
    [[print, "--withdraw", "--note", "x"], 2, /cannot be used with/],
    [[print, "--withdraw", "--for", "2h"], 2, /cannot be used with/],
  ])("%j is exit code %i", async (argv, exitCode, message) => {
    const { run, acks } = await open();
    expect(await run("ack", ...argv)).toEqual({ exitCode, stdout: "", stderr: expect.stringMatching(message) });
    expect(acks.size).toBe(0);
  });

  test("takes the id of an incident, for all of its alerts that fire, and undoes that", async () => {
    const at = (name: string, id: string) => {
      const alert = firingAlert(name, { location: "Leeds", location_id: "1", recording_id: id });
      const problem = name === "LowQuality" ? ("low_quality" as const) : ("offline" as const);
      const subject = { kind: "recording" as const, id };
      return { ...alert, id: `${name}/${id}@1`, subject, facts: { ...alert.facts, problem } };
    };
    const firing = [at("RecordingOffline", "r1"), at("RecordingOffline", "r2"), at("LowQuality", "r3")];
    const [cut] = incidentsOf(firing.map(toStoredEpisode)).filter(({ episodes }) => episodes.length > 1);
    const { run, acks } = await open({}, firing);
    const ack = async (...argv: string[]) => (await run("ack", cut?.id.toLowerCase() ?? "", ...argv)).stdout;
    const title = `2 cameras at 1 offline · ${cut?.id}`;
    expect(await ack()).toBe(`Acknowledged ${title}: no reminders until it resolves.\n`);
    expect([...acks.keys()].sort()).toEqual(["RecordingOffline/r1@1", "RecordingOffline/r2@1"]);
    expect(await ack("--undo")).toBe(`Undid the last change of the acknowledgement of ${title}.\n`);
    expect([...acks.values()]).toMatchObject([{ until: NOW }, { until: NOW }]);
  });

  test("takes the recording or location that the alerts are about; asks where several places have the name", async () => {
    const at = (name: string, labels: Record<string, string>) => ({ ...firingAlert(name, labels), id: `${name}@1` });
    const leeds = { recording: "Entrance", recording_id: "r1", location: "Leeds", location_id: "1" };
    const york = { recording: "Entrance", recording_id: "r2", location: "York", location_id: "2" };
    const firing = [at("RecordingOffline", leeds), at("LowUptime", leeds), at("RecordingDegraded", york)];
    const { run, acks } = await open({}, firing);
    expect((await run("ack", "leeds")).stdout).toBe(
      "Acknowledged 2 alerts at Leeds: no reminders until they resolve.\n",
    );
    expect([...acks.keys()].sort()).toEqual(["LowUptime@1", "RecordingOffline@1"]);
    expect(await run("ack", "Entrance")).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: expect.stringMatching(
        /^lenswatch: several places have that name; give a fingerprint:\n( {2}\w{8} .*\n){3}$/,
      ),
    });
    expect(JSON.parse((await run("ack", "r2", "--output", "json")).stdout)).toMatchObject([{ alerts: 1, until: null }]);
    expect((await run("ack", "Entranse")).stderr).toMatch(/^lenswatch: no alert has .*; similar:/);
  });

  test.each([[["ack", print]], [["silence", "add", "severity=warning", "--comment", "c"]]])(
    "%j has the author of the option, else $USER; without either it is asked for",
    async (argv) => {
      const { run, acks, kept } = await open({ USER: "" });
      const author = () => [...acks.values()].at(-1)?.author ?? [...kept.values()].at(-1)?.createdBy;
      expect(await run(...argv)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("give --by") });
      expect(author()).toBeUndefined();
      await run(...argv, "--author", "lee");
      expect(author()).toBe("lee");
    },
  );
});
