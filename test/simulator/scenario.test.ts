import { describe, expect, test } from "vitest";
import { parseScenario } from "../../src/simulator/scenario.ts";

describe("a scenario file", () => {
  test("gives its events with times in ms and their lines", () => {
    const { events } = parseScenario(`
events:
  - { at: 10s, location: Leeds Briggate, status: offline, for: 90s }
  - { at: 2m, fault: http_error, status: 503, for: 20s }
  - at: 1h30m
    recording: "#3/2"
    quality: null
    repeat: { every: 5m, times: 3 }
`);
    expect(events).toEqual([
      { kind: "status", line: 3, at: 10_000, for: 90_000, location: "Leeds Briggate", status: "offline" },
      { kind: "fault", line: 4, at: 120_000, for: 20_000, fault: "http_error", status: 503 },
      {
        kind: "quality",
        line: 5,
        at: 5_400_000,
        recording: "#3/2",
        quality: null,
        repeat: { every: 300_000, times: 3 },
      },
    ]);
  });

  test.each([
    ["a time that is none", "- { at: 10 s, location: L1, status: offline }", "2:9: events.0.at: must be a duration"],
    ["a time without unit", "- { at: 10, location: L1, status: offline }", "2:9: events.0.at: must be a duration"],
    ["an event that says nothing", "- { at: 1s, location: L1 }", "2:3: events.0: an event needs one of"],
    ["nothing that it is about", "- { at: 1s, status: offline }", "2:3: events.0: name either"],
    [
      "two that it is about",
      "- { at: 1s, location: L1, recording: L1/1, status: offline }",
      "2:3: events.0: name either",
    ],
    ["an unquoted #", "- at: 1s\n  status: offline\n  location: #3", "4:"],
    ["a key nobody knows", "- { at: 1s, location: L1, status: offline, untill: 2s }", 'events.0: unknown key "untill"'],
    ["a number as an event", "- 7", "2:3: events.0: expected object, found number"],
    ["a fault nobody knows", "- { at: 1s, fault: earthquake }", '2:20: events.0.fault: There is no fault "earthquake"'],
    ["a fault's parameter that is wrong", "- { at: 1s, fault: slow, ms: soon }", "ms: expected number, found string"],
    ["a quality beyond 1", "- { at: 1s, location: L1, quality: 80 }", "events.0.quality"],
    ["a time zone that is none", "- { at: 1s, add_location: Here, timezone: Europe/Leeds }", "events.0.timezone"],
  ])("with %s is refused with the place of the problem", (_, line, problem) => {
    expect(() => parseScenario(`events:\n${line}`, "day.yaml")).toThrow(
      expect.objectContaining({ code: "bad_scenario", message: expect.stringContaining(problem) }),
    );
  });

  test("without a list of events is refused", () => {
    expect(() => parseScenario("events: none", "day.yaml")).toThrow(/day\.yaml:1:9: events: /);
    expect(() => parseScenario("", "day.yaml")).toThrow(/day\.yaml:1:/);
  });

  test("whose aliases unfold without end is refused", () => {
    const many = Array(200).fill("*a").join(", ");
    const text = `a: &a [1, 2]\nb: &b [${many}]\nc: [*b, *b, *b]\nevents: []\n`;
    expect(() => parseScenario(text)).toThrow(
      expect.objectContaining({ code: "bad_scenario", message: expect.stringMatching(/alias/i) }),
    );
  });

  test("that is no YAML is refused with the place", () => {
    expect(() => parseScenario("events: [", "day.yaml")).toThrow(/day\.yaml:1:\d+: /);
  });

  test("tells all its problems at once", () => {
    const text = "events:\n- { at: x, location: L1, status: offline }\n- { at: 1s, fault: nope }\n";
    expect(() => parseScenario(text, "day.yaml")).toThrow(/day\.yaml:2:[\s\S]*day\.yaml:3:/);
  });
});
