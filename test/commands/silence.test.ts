import { describe, expect, test } from "vitest";
import { fingerprint } from "../../src/alerting/fingerprint.ts";
import { firingAlert, serve } from "../http/serve.ts";
import { holdsInMemory } from "../http/silences.ts";
import { fleetOf, NOW, recordingState } from "../metrics/fleets.ts";
import { aSilence } from "../support/fixtures.ts";
import { lenswatch } from "./run-command.ts";

const token = { LENSWATCH_ADMIN_TOKEN: "s3cret", USER: "dana" };

async function open() {
  const alert = firingAlert("RecordingOffline");
  const memory = holdsInMemory({ now: () => NOW }, [alert]);
  const fleet = fleetOf({
    recordings: [recordingState("rec-1")],
    locations: [{ id: "loc-1", name: "Leeds Briggate" }],
  });
  const { address } = await serve({
    ...memory.deps,
    adminToken: "s3cret",
    fleet: async () => fleet,
    alerts: async () => [{ alert, receivers: ["ops"] }],
  });
  const run = (...argv: string[]) => lenswatch([...argv, "--url", address], token);
  return { run, address, ...memory };
}

describe("lenswatch silence add", () => {
  test("silences the alerts that all matchers match, for the given duration", async () => {
    const { run, kept } = await open();
    const args = ["alertname=RecordingOffline", "location=Leeds Briggate", "severity!~info|none", "--duration", "2h"];
    const said = await run("silence", "add", ...args, "--comment", "rewiring", "--author", "sam");
    const [silence] = kept.values();
    expect(said).toEqual({
      stdout: `Silence ${silence?.id} silences alertname="RecordingOffline", location="Leeds Briggate", severity!~"info|none" for 2 h.\nNo firing alert matches.\n`,
      stderr: "",
      exitCode: 0,
    });
    expect(silence).toMatchObject({ startsAt: NOW, endsAt: NOW + 7_200_000, createdBy: "sam", comment: "rewiring" });
  });

  test.each([
    ["alertname=RecordingOffline", "1 firing alert silenced."],
    ["location=Leeds Briggate", "No firing alert matches."],
    ["alertname=LowUptime", "No firing alert matches."],
    ["location=Leeds Brigate", 'No firing alert matches, and there is no location "Leeds Brigate": check'],
    ["recording_id=rec-9", 'No firing alert matches, and there is no recording "rec-9": check'],
  ])("says what %s does at once, so that a mistyped name shows", async (matcher, effect) => {
    const { run } = await open();
    const { stdout, exitCode } = await run("silence", "add", matcher, "--comment", "x");
    expect(stdout.split("\n")[1]).toContain(effect);
    expect(exitCode).toBe(0);
  });

  test.each([
    [["--start", "tomorrow 22:00"], "from DAY 22:00 GMT until DAY 23:00 GMT (Europe/London)", 34 * 3_600_000, 1],
    [["--start", "+2h", "--for", "30m"], "from 14:00 GMT until 14:30 GMT (Europe/London)", 7_200_000, 0.5],
    [["--until", "22:00"], "until 22:00 GMT (Europe/London)", 0, 10],
  ])("%j is %s, in the zone of the location", async (args, words, after, hours) => {
    const { run, kept } = await open();
    const { stdout, stderr } = await run("silence", "add", "location=Leeds Briggate", ...args, "--comment", "x");
    expect(stderr).toBe("");
    expect(stdout.replaceAll(/\w{3} \d+ \w{3}(?= \d)/g, "DAY")).toContain(` location="Leeds Briggate" ${words}.\n`);
    const [silence] = kept.values();
    expect(silence).toMatchObject({ startsAt: NOW + after, endsAt: NOW + after + hours * 3_600_000 });
  });

  test("in the zone of the terminal where no location is named; pending ones say when they begin", async () => {
    const { address, kept } = await open();
    const run = (...argv: string[]) =>
      lenswatch(["silence", ...argv, "--url", address], { ...token, TZ: "America/New_York" });
    const { stdout } = await run("add", "alertname=RecordingOffline", "--start", "22:00", "--comment", "x");
    expect(stdout).toContain("(America/New_York).\n1 firing alert would match now.\n");
    expect([...kept.values()]).toMatchObject([{ startsAt: NOW + 15 * 3_600_000 }]);
    expect((await run("list")).stdout).toContain('\nalertname="RecordingOffline"\n  begins in 15 h, for 1 h ');
  });

  test.each([
    [["--start", "soon"], "--start must be a time such as"],
    [["--start", "today 11:00"], "--start today 11:00 has passed in Europe/London"],
    [["--start", "+2h", "--until", "+1h"], "--until must be after --start"],
    [["--until", "22:00", "--for", "2h"], "cannot be used with"],
  ])("%j is wrong usage", async (args, message) => {
    const { run, kept } = await open();
    const done = await run("silence", "add", "location=Leeds Briggate", ...args, "--comment", "x");
    expect(done).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(message) });
    expect(kept.size).toBe(0);
  });

  test("accepts quoted values, defaults to an hour and $USER; --output json prints the id", async () => {
    const { run, kept } = await open();
    const { stdout } = await run(
      "silence",
      "add",
      'location="Leeds, \\"North\\""',
      "--comment",
      "x",
      "--output",
      "json",
    );
    const [silence] = kept.values();
    expect(JSON.parse(stdout)).toEqual({ silenceID: silence?.id });
    expect(silence).toMatchObject({
      endsAt: NOW + 3_600_000,
      createdBy: "dana",
      matchers: [{ value: 'Leeds, "North"' }],
    });
  });

  test.each([
    ["no matcher", []],
    ["something else than a matcher", ["location"]],
    ["a pattern that is none", ["location=~("]],
    ["a duration that is none", ["a=b", "--duration", "soon"]],
  ])("%s is wrong usage", async (_, args) => {
    const { run, kept } = await open();
    expect(await run("silence", "add", ...args, "--comment", "x")).toMatchObject({ exitCode: 2, stdout: "" });
    expect(kept.size).toBe(0);
  });

  test("without a comment is wrong usage", async () => {
    const { run } = await open();
    expect((await run("silence", "add", "a=b")).exitCode).toBe(2);
  });

  test("a silence that matches everything is refused with the reason, exit code 1", async () => {
    const { run } = await open();
    const { exitCode, stderr } = await run("silence", "add", "a=~.*", "--comment", "x");
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/^lenswatch: .*must not match the empty string/)]);
  });

  test("a daemon without admin token, and one with another, are exit code 1 with the next step", async () => {
    const { address } = await serve();
    const without = await lenswatch(["silence", "add", "a=b", "--comment", "x", "--url", address], token);
    expect([without.exitCode, without.stderr]).toEqual([
      1,
      expect.stringContaining("no http.admin_token is configured"),
    ]);
    const { address: other } = await serve({ adminToken: "another" });
    const wrong = await lenswatch(["silence", "add", "a=b", "--comment", "x", "--url", other], token);
    expect(wrong.exitCode).toBe(1);
    expect(wrong.stderr).toMatch(
      /set LENSWATCH_ADMIN_TOKEN to .*http\.admin_token, or .*http\.tokens with the scope silence\n$/,
    );
    expect(wrong.stderr).not.toContain("s3cret");
    const { address: both } = await serve({ adminToken: "another", readToken: "s3cret" });
    const reader = await lenswatch(["silence", "add", "a=b", "--comment", "x", "--url", both], token);
    expect(reader.exitCode).toBe(1);
    expect(reader.stderr).toMatch(/: The token read_token lacks the scope silence: set LENSWATCH_ADMIN_TOKEN to /);
  });
});

describe("lenswatch silence extend", () => {
  test("lets one end later in place, by how its id begins", async () => {
    const { run, kept } = await open();
    await run("silence", "add", "location=Leeds Briggate", "--comment", "rewiring", "--duration", "1h");
    const [id = ""] = kept.keys();
    const before = {
      id,
      startsAt: NOW,
      createdBy: "dana",
      comment: "rewiring",
      matchers: [{ value: "Leeds Briggate" }],
    };
    expect(await run("silence", "extend", id.slice(0, 8).toUpperCase(), "--for", "2h")).toEqual({
      stdout: `Silence ${id} lasts until 15:00 GMT (Europe/London), for another 3 h.\n`,
      stderr: "",
      exitCode: 0,
    });
    expect([...kept.values()]).toMatchObject([{ ...before, endsAt: NOW + 3 * 3_600_000 }]);
    expect((await run("silence", "extend", id, "--until", "22:00")).stdout).toBe(
      `Silence ${id} lasts until 22:00 GMT (Europe/London), for another 10 h.\n`,
    );
    expect(kept.get(id)).toMatchObject({ ...before, endsAt: NOW + 10 * 3_600_000 });
  });

  test("lets none end earlier, and begins none that is over or unknown", async () => {
    const { run, kept } = await open();
    await run("silence", "add", "location=Leeds Briggate", "--comment", "rewiring", "--duration", "4h");
    const [id = ""] = kept.keys();
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

  test("asks for more of an id that two begin with", async () => {
    const { run, kept } = await open();
    for (const last of ["1", "2"]) {
      const id = `0b1c2d3e-0000-4000-8000-00000000000${last}`;
      kept.set(id, aSilence({ id, startsAt: NOW - 1_000, endsAt: NOW + 1_000_000 }));
    }
    expect((await run("silence", "expire", "0b1c")).stderr).toContain("2 silences have an id that begins with 0b1c");
    expect((await run("silence", "expire", "0b1c2d3e-0000-4000-8000-000000000001")).exitCode).toBe(0);
  });
});

describe("lenswatch silence list and expire", () => {
  test("list prints active silences, with --expired also expired ones", async () => {
    const { run, kept } = await open();
    expect((await run("silence", "list")).stdout).toBe("No silences.\n");
    await run("silence", "add", "location=Leeds", "--comment", "re\u001b[31mwiring", "--duration", "90m");
    const [id = ""] = kept.keys();
    expect((await run("silence", "list")).stdout).toMatch(
      new RegExp(`^  WHEN .*ID\nlocation="Leeds"\n  ends in 1 h 30 m +dana +re\\[31mwiring +${id}\n\n1 silence\n$`),
    );
    expect(await run("silence", "expire", id)).toEqual({ stdout: `Silence ${id} expired.\n`, stderr: "", exitCode: 0 });
    expect((await run("silence", "list")).stdout).toBe("No silences.\n");
    expect(JSON.parse((await run("silence", "list", "--expired", "--output", "json")).stdout)).toMatchObject([
      { id, status: { state: "expired" } },
    ]);
  });

  test("expire of an unknown silence is exit code 1", async () => {
    const { run } = await open();
    expect(await run("silence", "expire", "no/such")).toMatchObject({
      exitCode: 1,
      stderr: 'lenswatch: There is no silence "no/such": `lenswatch silence list` prints the ids\n',
    });
  });
});

describe("lenswatch ack", () => {
  const print = fingerprint({ alertname: "RecordingOffline" });

  test("acknowledges a firing alert", async () => {
    const { run, acks } = await open();
    expect(await run("ack", print.toUpperCase(), "--comment", "on my way")).toEqual({
      stdout: `Acknowledged ${print}: no reminders until it resolves.\n`,
      stderr: "",
      exitCode: 0,
    });
    expect([...acks.values()]).toEqual([{ author: "dana", comment: "on my way", at: NOW }]);
  });

  test("an unknown fingerprint or name is exit code 1", async () => {
    const { run } = await open();
    expect(await run("ack", "0000000000000000")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(
        /^lenswatch: No firing alert has this fingerprint; .*: `lenswatch status --alerts /,
      ),
    });
    expect((await run("ack", "../silences")).exitCode).toBe(1);
  });

  test("lasts as long as it says, in the time of the terminal; names whose it replaces", async () => {
    const { address, acks } = await open();
    const by = (author: string, ...argv: string[]) =>
      lenswatch(["ack", print, "--author", author, ...argv, "--url", address], { ...token, TZ: "America/New_York" });
    expect((await by("lee\u001b[2J", "--for", "2h", "--comment", "x")).stdout).toBe(
      `Acknowledged ${print}: no reminders until 09:00 EST.\n`,
    );
    expect([...acks.values()]).toMatchObject([{ comment: "x", until: NOW + 7_200_000 }]);
    expect((await by("dana")).stdout).toMatch(/ until it resolves\. This replaces the acknowledgement of lee\[2J\.\n$/);
    expect((await by("dana", "--for", "2y")).stderr).toContain("of a year at most");
  });

  test("is withdrawn and noted; neither goes with the other, nor where there is none", async () => {
    const { run, acks } = await open();
    expect(await run("ack", print, "--withdraw")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/^lenswatch: The alert is not acknowledged: `lenswatch status --alerts /),
    });
    await run("ack", print);
    expect((await run("ack", print, "--note", "the fuse?", "--author", "sam")).stdout).toBe(
      `Added the note to ${print}.\n`,
    );
    expect((await run("ack", print, "--withdraw")).stdout).toBe(
      `Withdrew the acknowledgement of ${print}: reminders resume.\n`,
    );
    expect([...acks.values()]).toMatchObject([{ until: NOW, notes: [{ author: "sam", text: "the fuse?" }] }]);
    expect((await run("ack", print, "--withdraw", "--note", "x")).exitCode).toBe(2);
    expect((await run("ack", print, "--withdraw", "--for", "2h")).exitCode).toBe(2);
  });

  test("takes the recording or location that the alerts are about; asks where several places have the name", async () => {
    const at = (name: string, labels: Record<string, string>) => ({ ...firingAlert(name, labels), id: `${name}@1` });
    const firing = [
      at("RecordingOffline", { recording: "Entrance", recording_id: "r1", location: "Leeds", location_id: "1" }),
      at("LowUptime", { recording: "Entrance", recording_id: "r1", location: "Leeds", location_id: "1" }),
      at("RecordingDegraded", { recording: "Entrance", recording_id: "r2", location: "York", location_id: "2" }),
    ];
    const memory = holdsInMemory({ now: () => NOW }, firing);
    const alerts = async () => firing.map((alert) => ({ alert, receivers: ["ops"] }));
    const { address } = await serve({ ...memory.deps, adminToken: "s3cret", alerts });
    const run = (...argv: string[]) => lenswatch(["ack", ...argv, "--url", address], token);
    const { stdout, stderr } = await run("leeds");
    expect(stderr).toBe("");
    expect(stdout.split("\n").sort()).toEqual([
      "",
      "Acknowledged LowUptime · Entrance · Leeds: no reminders until it resolves.",
      "Acknowledged RecordingOffline · Entrance · Leeds: no reminders until it resolves.",
    ]);
    expect([...memory.acks.keys()].sort()).toEqual(["LowUptime@1", "RecordingOffline@1"]);
    const several = await run("Entrance");
    expect([several.exitCode, several.stdout]).toEqual([2, ""]);
    expect(several.stderr).toMatch(
      /^lenswatch: several places have that name; give a fingerprint:\n( {2}\w{16} .*\n){3}$/,
    );
    expect(JSON.parse((await run("r2", "--output", "json")).stdout)).toMatchObject([{ alerts: 1, until: null }]);
    const unknown = await run("Entranse");
    expect([unknown.exitCode, unknown.stderr]).toEqual([
      1,
      expect.stringMatching(/^lenswatch: no alert has .*; similar:/),
    ]);
  });

  test("has the author of a silence: the option, else $USER; without either it is asked for", async () => {
    const { address, acks, kept } = await open();
    const admin = { LENSWATCH_ADMIN_TOKEN: "s3cret" };
    for (const argv of [
      ["ack", print],
      ["silence", "add", "a=b", "--comment", "c"],
    ]) {
      const run = (more: string[], env = {}) => lenswatch([...argv, ...more, "--url", address], { ...admin, ...env });
      const author = () => [...acks.values()].at(-1)?.author ?? [...kept.values()].at(-1)?.createdBy;
      expect(await run([])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("give --author") });
      expect(author()).toBe(argv[0] === "ack" ? undefined : "lee");
      await run([], { USER: "dana" });
      await run(["--author", "lee"], { USER: "dana" });
      expect([...acks.values()].at(-1)?.author).toBe("lee");
    }
    expect([...kept.values()].map(({ createdBy }) => createdBy)).toEqual(["dana", "lee"]);
  });

  test("an acknowledgement is shown by alerts", async () => {
    const acknowledgement = { author: "dana", comment: "", at: NOW, until: NOW + 7_200_000 };
    const { address } = await serve({
      alerts: async () => [{ alert: firingAlert("RecordingOffline"), receivers: ["ops"], acknowledgement }],
    });
    const { stdout } = await lenswatch(["status", "--alerts", "--all", "--url", address], { TZ: "America/New_York" });
    expect(stdout).toMatch(/ RecordingOffline .* acknowledged by dana until 09:00 EST /m);
  });
});
