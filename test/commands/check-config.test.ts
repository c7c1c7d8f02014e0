import { expect, test } from "vitest";
import { receivers, service } from "../config/text.ts";
import { configuration, lenswatch } from "./run-command.ts";

const tree = `route:
  receiver: ops
  routes:
    - matchers: [severity="warning"]
      continue: true
      repeat_interval: 1d
`;
const valid = service + receivers + tree;

test.each([
  ["a valid file with its rules, receivers and routes, without any secret", valid, "text", 0],
  ["a warning, which does not make a file invalid", `${service}${receivers}rules: []\n`, "text", 0],
  ["every problem with its position", `${service}${receivers}log: { level: loud }\nrule: []\n`, "text", 1],
  ["a valid file as JSON", valid, "json", 0],
  ["every problem as JSON", `${service}receivers: [ { name: ops, pager_configs: [] } ]\n`, "json", 1],
])("prints %s", async (_, yaml, output, exitCode) => {
  const file = await configuration(yaml);
  const { stdout, ...rest } = await lenswatch(["check-config", "--output", output], { LENSWATCH_CONFIG: file });
  expect(rest).toEqual({ stderr: "", exitCode });
  expect(stdout).not.toMatch(/a-secret|hooks\.example\.com/);
  expect(stdout.replaceAll(file, "FILE")).toMatchSnapshot();
});

test("a missing file is exit code 3", async () => {
  expect(await lenswatch(["check-config", "--config", "/nonexistent/lenswatch.yaml"])).toMatchObject({ exitCode: 3 });
});
