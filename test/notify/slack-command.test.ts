import { describe, expect, test } from "vitest";
import { type Place, readCommand } from "../../src/notify/slack/command.ts";
import { drained } from "../support/steps.ts";

const place = (kind: Place["kind"], id: string, name: string): Place => ({
  kind,
  id,
  name,
  at: "Leeds",
  timezone: "UTC",
});
const leeds = place("location", "l1", "Leeds");
const briggate = place("location", "l2", "Leeds Briggate");
const entrance = place("recording", "r1", "Leeds Briggate Entrance");
const door = place("recording", "r2", "Door 2h");
const twins = [place("recording", "t1", "Till"), place("recording", "t2", "Till")];
const ampersand = place("location", "l3", "Marks & Co <3");
const places = [leeds, briggate, entrance, door, ...twins, ampersand];
const HOUR = 3_600_000;

function read(typed: string, all = places) {
  return drained(readCommand(typed, all));
}

describe("a command", () => {
  test.each([
    ["", { verb: "help" }],
    ["HELP me", { verb: "help" }],
    ["status", { verb: "status" }],
    ["status  leeds BRIGGATE", { verb: "status", place: briggate }],
    ["status r1", { verb: "status", place: entrance }],
    ['why "Leeds Briggate Entrance"', { verb: "why", place: entrance }],
    ["why “Leeds”", { verb: "why", place: leeds }],
    ["why Marks &amp; Co &lt;3", { verb: "why", place: ampersand }],
    ["silence Leeds Briggate 2h", { verb: "silence", place: briggate, forMs: 2 * HOUR, comment: "" }],
    [
      "silence Leeds 1d12h until 8h later",
      { verb: "silence", place: leeds, forMs: 36 * HOUR, comment: "until 8h later" },
    ],
    ["silence Door 2h 30m", { verb: "silence", place: door, forMs: HOUR / 2, comment: "" }],
    ["silence t1 2h", { verb: "silence", place: twins[0], forMs: 2 * HOUR, comment: "" }],
  ])("%s", (typed, request) => {
    expect(read(typed)).toEqual(request);
  });

  test.each([
    ["stats", "There is no command stats; status?"],
    ["why", "/lenswatch why NAME"],
    ["why Leeds Brigate", "No recording or location is called *Leeds Brigate*. Similar:\n• Leeds Briggate · l2"],
    ["status Leeds Briggate please", "No recording or location is called"],
    ["why Till", "2 have that name, give an id:\n• Till · Leeds · t1\n• Till · Leeds · t2"],
    ["silence Leeds", "For how long?"],
    ["silence Leeds 900d", "a year at most"],
    ["silence Leeds 0s", "a year at most"],
    ["silence Nowhere 2h", "No recording or location is called *Nowhere*"],
    ["silence 2h", "For how long?"],
    ["why *x* <!channel>", "*\u200b*\u200bx\u200b*\u200b &lt;!channel&gt;*"],
  ])("%s: says what is wrong", (typed, problem) => {
    expect(read(typed)).toEqual({ problem: expect.stringContaining(problem) });
  });

  test("of any length is read quickly", () => {
    const fleet = Array.from({ length: 5_000 }, (_, i) => place("recording", `r${i}`, `Recording ${i}`));
    const before = performance.now();
    for (const verb of ["ack", "silence"]) read(`${verb} ${"1h ".repeat(1_000)}`, fleet);
    expect(performance.now() - before).toBeLessThan(20_000);
  });

  test("yields at each place of a fleet, to find its name and those like it", () => {
    const fleet = Array.from({ length: 100 }, (_, i) => place("recording", `r${i}`, `Recording ${i}`));
    expect([...readCommand("why Recordings", fleet)]).toHaveLength(200);
  });
});
