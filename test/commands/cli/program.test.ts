import { Command } from "commander";
import { describe, expect, test } from "vitest";
import type { CommandIo, ExitCode } from "../../../src/commands/cli/command.ts";
import { type CommandEntry, commandTable } from "../../../src/commands/cli/program.ts";
import { ConfigError } from "../../../src/config/problem.ts";
import { readVersion } from "../../../src/lib/version.ts";
import { SimulatorError } from "../../../src/simulator/errors.ts";
import { StoreError } from "../../../src/store/errors.ts";
import { lenswatch } from "../run-command.ts";

/** A command that does what the test wants. */
function entry(name: string, act: () => void | Promise<void> = () => {}): CommandEntry & { loads: number } {
  return {
    name,
    summary: `does ${name}`,
    loads: 0,
    async load(io) {
      this.loads += 1;
      return new Command(name)
        .description(`${name}, described at length`)
        .option("--only <status>", "a filter")
        .action(async () => {
          await act();
          io.stdout.write("done\n");
        });
    },
  };
}

const run = (
  argv: readonly string[],
  table: readonly CommandEntry[] = [entry("check-config"), entry("status")],
  { env = {}, ...around }: { env?: Record<string, string>; signal?: AbortSignal } = {},
) => lenswatch(argv, env, { table, ...around });

const failing = (error: Error) => [
  entry("status", () => {
    throw error;
  }),
];

describe("the command line", () => {
  test("runs the command it is given", async () => {
    expect(await run(["status"])).toEqual({ stdout: "done\n", stderr: "", exitCode: 0 });
  });

  test("loads no command that is not named", async () => {
    const table = [entry("check-config"), entry("status")];
    await run(["status"], table);
    await run(["--help"], table);
    expect(table.map(({ loads }) => loads)).toEqual([0, 1]);
  });

  test("lists every command with its summary", async () => {
    const { stdout, exitCode } = await run(["--help"]);
    expect(stdout).toMatch(/check-config .*does check-config/);
    expect(stdout).toMatch(/status .*does status/);
    expect(exitCode).toBe(0);
  });

  test.each([[["status", "--help"]], [["help", "status"]]])("explains a command at length: %j", async (argv) => {
    expect(await run(argv)).toMatchObject({ stdout: expect.stringContaining("described at length"), exitCode: 0 });
  });

  test("prints its version", async () => {
    expect(await run(["--version"])).toMatchObject({ stdout: `${readVersion()}\n`, exitCode: 0 });
  });

  test.each([
    [["chek-config"], "Did you mean check-config?"],
    [["status", "--onyl", "offline"], "Did you mean --only?"],
    [["status", "--only"], "argument missing"],
    [["status", "surplus"], "too many arguments"],
  ])("takes %j for wrong usage and says what would be right", async (argv, hint) => {
    expect(await run(argv)).toMatchObject({ stdout: "", stderr: expect.stringContaining(hint), exitCode: 2 });
  });

  test("shows its help when asked for nothing, and how to start", async () => {
    const { stderr, exitCode } = await run([]);
    expect(stderr).toMatch(/^Usage: lenswatch.*`lenswatch init`.*`lenswatch demo`/s);
    expect(exitCode).toBe(2);
  });

  test("says how to start where there is no configuration", async () => {
    const argv = ["run", "--config", "/nowhere/lenswatch.yaml"];
    expect(await run(argv, commandTable)).toEqual({
      stdout: "",
      stderr:
        "lenswatch: /nowhere/lenswatch.yaml does not exist: write one with `lenswatch init`, name another with --config, or try `lenswatch demo`\n",
      exitCode: 3,
    });
  });

  const problem = { kind: "value", file: "a.yaml", line: 3, column: 5, path: "rules[0].for" } as const;
  const problems = [{ ...problem, found: '"2x"', expected: "a duration" }];
  test.each<[string, Error, ExitCode, string]>([
    ["an unreachable dependency", new StoreError("unavailable", "Redis is gone."), 3, "lenswatch: Redis is gone.\n"],
    ["an option that a command refuses", new SimulatorError("bad_option", "No port."), 2, "lenswatch: No port.\n"],
    [
      "an invalid configuration, with every problem",
      new ConfigError("invalid", "a.yaml has 1 problem.", { problems }),
      1,
      'a.yaml:3:5: rules[0].for: found "2x", expected a duration\nlenswatch: a.yaml has 1 problem.\n',
    ],
    [
      "a fault, without the secret in it",
      new Error("no answer from wss://x/?token=s3cret"),
      3,
      "lenswatch: unexpected Error: no answer from wss://x/?token=[redacted]\n",
    ],
  ])("reports %s", async (_, error, exitCode, stderr) => {
    expect(await run(["status"], failing(error))).toEqual({ stdout: "", stderr, exitCode });
    const debug = await run(["status"], failing(error), { env: { LENSWATCH_LOG_LEVEL: "debug" } });
    expect(debug.stderr).toContain("program.test.ts");
    expect(debug.stderr).not.toContain("s3cret");
  });

  test("reports nothing when it is stopped by a signal", async () => {
    const signal = AbortSignal.abort();
    const table = [entry("status", () => signal.throwIfAborted())];
    expect(await run(["status"], table, { signal })).toEqual({ stdout: "", stderr: "", exitCode: 0 });
  });
});

describe("every command's help", () => {
  test("of all commands names what `silence` does, each of it", async () => {
    const { stdout } = await run(["--help"], commandTable);
    const silence = await commandTable.find(({ name }) => name === "silence")?.load({} as CommandIo);
    const [line = ""] = /^ +silence .*$/m.exec(stdout) ?? [];
    expect(silence?.commands.map((one) => one.name()).filter((name) => !line.includes(name))).toEqual([]);
  });

  test.each(commandTable)(
    "of $name is under its own name, shows an example, and offers JSON where it answers",
    async ({ name, load }) => {
      const { stdout, exitCode } = await run([name, "--help"], commandTable);
      expect({ stdout, exitCode }).toEqual({
        stdout: expect.stringMatching(new RegExp(`^Usage: lenswatch ${name} `)),
        exitCode: 0,
      });
      const { commands } = await load({ env: {} } as CommandIo);
      const helps = commands.map(async (one) => (await run([name, one.name(), "--help"], commandTable)).stdout);
      const leaves = commands.length > 0 ? await Promise.all(helps) : [stdout];
      const doesNotAnswer = ["init", "run", "demo", "slack"].includes(name);
      for (const help of leaves) {
        expect(help).toMatch(/\nExample:\n {2}(lenswatch|npm run)/);
        expect(/--output .*\n?.*"json"/.test(help)).toBe(!doesNotAnswer);
      }
    },
  );
});
