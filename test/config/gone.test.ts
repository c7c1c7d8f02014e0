import { expect, test } from "vitest";
import { parseConfig } from "../../src/config/load.ts";
import { formatProblem } from "../../src/config/problem.ts";
import { receivers, service } from "./text.ts";

const digests = "digests: [ { name: daily, to: a@example.com, KEY } ]\nsmtp: { host: h, from: a@example.com }\n";

test.each([[digests.replace("KEY", "untrusted_below: 90%"), "untrusted_below", /page of a location/]])(
  "a key that is gone is refused by name, with what takes its place: %j",
  (text, key, instead) => {
    const parsed = parseConfig(service + receivers + text, { file: "lenswatch.yaml", env: {}, readSecret: () => "" });
    const problems = "problems" in parsed ? parsed.problems.map(formatProblem) : [];
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(`the unknown key \`${key}\``);
    expect(problems[0]).toMatch(instead);
  },
);
