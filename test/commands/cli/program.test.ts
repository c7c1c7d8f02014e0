import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { Command } from "commander";
import { describe, expect, test } from "vitest";
import type { CommandIo, ExitCode } from "../../../src/commands/cli/command.ts";
import { type CommandEntry, commandTable, runCli } from "../../../src/commands/cli/program.ts";
import { ConfigError } from "../../../src/config/problem.ts";
import { readVersion } from "../../../src/lib/version.ts";
import { SimulatorError } from "../../../src/simulator/errors.ts";
import { StoreError } from "../../../src/store/errors.ts";

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

async function run(
  argv: string[],
  table: readonly CommandEntry[] = [entry("check-config"), entry("status")],
  options: { env?: Record<string, string>; signal?: AbortSignal } = {},
) {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  let exitCode: ExitCode = 0;
  const io: CommandIo = {
    stdout,
    stderr,
    env: options.env ?? {},
    signal: options.signal ?? new AbortController().signal,
    setExitCode(code) {
      exitCode = code;
    },
  };
  await runCli(argv, io, table);
  stdout.end();
  stderr.end();
  return { stdout: await text(stdout), stderr: await text(stderr), exitCode };
}

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

  test("reports an unreachable dependency in one sentence, exit code 3", async () => {
    const table = [
      entry("status", () => {
        throw new StoreError("unavailable", "Redis does not answer; check redis.url.");
      }),
    ];
    const result = await run(["status"], table);
    expect(result).toEqual({ stdout: "", stderr: "lenswatch: Redis does not answer; check redis.url.\n", exitCode: 3 });
  });

  test("an option that a command itself refuses is wrong usage, exit code 2", async () => {
    const table = [
      entry("simulate", () => {
        throw new SimulatorError("bad_option", "port must be a whole number from 0 to 65535.");
      }),
    ];
    expect(await run(["simulate"], table)).toMatchObject({
      stderr: "lenswatch: port must be a whole number from 0 to 65535.\n",
      exitCode: 2,
    });
  });

  test("prints every problem of an invalid configuration, exit code 1", async () => {
    const problem = { kind: "value", file: "a.yaml", line: 3, column: 5, path: "rules[0].for" } as const;
    const table = [
      entry("status", () => {
        throw new ConfigError("invalid", "a.yaml has 1 problem.", {
          problems: [{ ...problem, found: '"2x"', expected: "a duration" }],
        });
      }),
    ];
    expect(await run(["status"], table)).toMatchObject({
      stderr: 'a.yaml:3:5: rules[0].for: found "2x", expected a duration\nlenswatch: a.yaml has 1 problem.\n',
      exitCode: 1,
    });
  });

  test("shows a stack at log level debug and at no other, and no secret in either", async () => {
    const table = [
      entry("status", () => {
        throw new Error("no answer from wss://x/?token=s3cret");
      }),
    ];
    const quiet = await run(["status"], table);
    const debug = await run(["status"], table, { env: { LENSWATCH_LOG_LEVEL: "debug" } });
    expect(quiet.stderr).toBe("lenswatch: unexpected Error: no answer from wss://x/?token=[redacted]\n");
    expect(debug.stderr).toContain("program.test.ts");
    expect(debug.stderr).not.toContain("s3cret");
    expect(quiet.exitCode).toBe(3);
  });

  test("reports nothing when it is stopped by a signal", async () => {
    const signal = AbortSignal.abort();
    const table = [entry("status", () => signal.throwIfAborted())];
    expect(await run(["status"], table, { signal })).toEqual({ stdout: "", stderr: "", exitCode: 0 });
  });
});

describe("every command of the table", () => {
  test("loads under its own name and explains itself", async () => {
    for (const { name } of commandTable) {
      const { stdout, exitCode } = await run([name, "--help"], commandTable);
      expect(stdout).toMatch(new RegExp(`^Usage: lenswatch ${name} `));
      expect(exitCode).toBe(0);
    }
  });
});

describe("every command's help", () => {
  const io: CommandIo = {
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    env: {},
    signal: new AbortController().signal,
    setExitCode() {},
  };

  test("of all commands names what `silence` does, each of it", async () => {
    const { stdout } = await run(["--help"], commandTable);
    const silence = await commandTable.find(({ name }) => name === "silence")?.load({} as CommandIo);
    const [line = ""] = /^ +silence .*$/m.exec(stdout) ?? [];
    expect(silence?.commands.map((one) => one.name()).filter((name) => !line.includes(name))).toEqual([]);
  });

  test.each(commandTable.map(({ name }) => name))("of %s shows an example", async (name) => {
    const command = await commandTable.find((one) => one.name === name)?.load(io);
    const leaves = command && command.commands.length > 0 ? command.commands : [command];
    for (const leaf of leaves) {
      let help = "";
      leaf?.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
      expect(help).toMatch(/\nExample:\n {2}(lenswatch|npm run)/);
    }
  });

  test.each(["check-config", "status", "ack", "why", "healthz", "notify-test", "simulate"])(
    "of %s offers JSON",
    async (name) => {
      const command = await commandTable.find((one) => one.name === name)?.load(io);
      expect(command?.options.find(({ long }) => long === "--output")?.argChoices).toContain("json");
    },
  );
});
