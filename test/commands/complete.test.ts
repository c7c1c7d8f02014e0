import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test, vi } from "vitest";
import { commandTable, runCli } from "../../src/commands/cli/program.ts";
import { receivers, service } from "../config/text.ts";

const main = resolve(import.meta.dirname, "../../src/main.ts");
const run = promisify(execFile);

/** What the shell would offer after these words, as its script asks for it. */
async function offers(words: readonly string[], env: Record<string, string> = {}): Promise<string[]> {
  using log = vi.spyOn(console, "log").mockImplementation(() => {});
  const { stdout, stderr } = process;
  const { signal } = new AbortController();
  const io = { stdout, stderr, signal, env: { LENSWATCH_CONFIG: "/nowhere", ...env }, setExitCode: () => {} };
  await runCli(["complete", "--", ...words], io, commandTable);
  const lines = log.mock.calls.map(([line]) => String(line));
  return lines.filter((line) => !/^:\d+$/.test(line)).map((line) => line.split("\t")[0] ?? "");
}

test("every command is offered, with what it does", async () => {
  expect(await offers([""])).toEqual(commandTable.map(({ name }) => name));
});

test("a command's own commands, options and their values are offered", async () => {
  expect(await offers(["silence", ""])).toEqual(["add", "list", "expire"]);
  expect(await offers(["status", "--loc"])).toEqual(["--location"]);
  expect(await offers(["status", "--output", ""])).toEqual(["table", "json", "csv"]);
  expect(await offers(["query", "co"])).toEqual(["conversion"]);
  expect(await offers(["run", "--role", ""])).toEqual(["all", "poll", "notify", "web"]);
  expect(await offers(["complete", ""])).toEqual(["bash", "zsh", "fish", "powershell"]);
});

test("receivers are offered by the names the configuration gives them", async () => {
  const directory = await mkdtemp(join(tmpdir(), "lenswatch-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, "lenswatch.yaml");
  await writeFile(file, service + receivers);
  expect(await offers(["notify-test", ""], { LENSWATCH_CONFIG: file })).toEqual(["ops"]);
});

test("bash takes the script, and asks lenswatch by it", async () => {
  // As the package bash-completion gives it.
  const helper = `_get_comp_words_by_ref() { words=(lenswatch silence ex) cword=2 cur=ex prev=silence; }`;
  const script = `lenswatch() { "${process.execPath}" "${main}" "$@"; }
${helper}
source <(lenswatch complete bash)
$(complete -p lenswatch | sed 's/.*-F \\([^ ]*\\).*/\\1/')
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await run("bash", ["-c", script]);
  expect(stdout.trim().split(/\s/)[0]).toBe("expire");
});
