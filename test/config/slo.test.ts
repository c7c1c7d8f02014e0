import { expect, test } from "vitest";
import { configOf, listProblems, receivers, service } from "./text.ts";

const smallest = service + receivers;

test("there is no objective unless configured, and one is about all recordings in 30 days", () => {
  expect(configOf(smallest).slos).toEqual([]);
  expect(configOf(`${smallest}slo: [{ name: a, objective: 99.5% }]`).slos).toEqual([
    { name: "a", objective: 0.995, periodMs: 30 * 86_400_000, matchers: [], by: undefined },
  ]);
});

test.each([
  ["{ name: a, objective: 100% }", "a ratio between 0 and 1"],
  ["{ name: a, objective: 0 }", "a ratio between 0 and 1"],
  ["{ name: a, objective: 0.9, period: 1d }", "from 7d to 90d"],
  ["{ name: a, objective: 0.9, by: recording }", "camera_server"],
  ["{ name: a, objective: 0.9 }, { name: a, objective: 0.8 }", "a unique name"],
])("%s is refused", (text, problem) => {
  expect(JSON.stringify(listProblems(`${smallest}slo: [${text}]\n`))).toContain(problem);
});
