import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
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

test("a directory is read, and its columns, rows and what is wrong with them are said", async () => {
  const file = await configuration(`${valid}directory: { locations: { file: shops.csv }, contacts: [phone] }\n`);
  const shops = join(dirname(file), "shops.csv");
  const check = async (csv: string) => {
    await writeFile(shops, csv);
    const { stdout, exitCode } = await lenswatch(["check-config"], { LENSWATCH_CONFIG: file });
    return [exitCode, ...stdout.split("\n").filter((line) => line.includes("directory"))];
  };
  expect(await check("location,region,phone\nLeeds,north,0113\nLeeds,south,0113\n")).toEqual([
    0,
    "directory: 1 row, labels region, contacts phone; 0 names",
    "warning: directory: line 3 is not used: its location has line 2",
    "directory: no stored locations here to compare the rows with",
  ]);
  expect(await check("location,region\n")).toEqual([1, "directory: it has no column phone"]);
});

test("a missing file is exit code 3", async () => {
  expect(await lenswatch(["check-config", "--config", "/nonexistent/lenswatch.yaml"])).toMatchObject({ exitCode: 3 });
});
