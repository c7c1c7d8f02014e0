/** `complete SHELL`: prints a completion script, which calls `lenswatch complete -- WORDS…` for suggestions. */
import { type Complete, RootCommand, type Command as Words } from "@bomb.sh/tab";
import { Argument, Command } from "commander";
import { configFile, loadConfig } from "../config/load.ts";
import type { CommandIo } from "./cli/command.ts";
import type { CommandEntry } from "./cli/program.ts";

const shells = ["bash", "zsh", "fish", "powershell"];

type Names = Readonly<Record<string, readonly string[]>>;

/** `argv` is needed because commander drops the `--` of a request for suggestions. */
export function completeCommand(io: CommandIo, argv: readonly string[], table: readonly CommandEntry[]): Command {
  const asked = argv[1] === "--";
  const complete = new Command("complete")
    .description("Print a shell script that completes commands, options and names of receivers and digests.")
    .addHelpText("after", "\nExample:\n  source <(lenswatch complete bash)");
  if (asked) complete.argument("[words...]");
  else complete.addArgument(new Argument("<shell>", "the shell").choices(shells));
  return complete.action(async (shell: string) => {
    const root = await describe(io, argv, table);
    if (asked) root.parse([...argv.slice(2)]);
    else root.setup("lenswatch", "lenswatch", shell);
  });
}

async function describe(io: CommandIo, argv: readonly string[], table: readonly CommandEntry[]): Promise<RootCommand> {
  const root = new RootCommand();
  const names = await namesIn(io);
  for (const entry of table) {
    const command = entry.name === "complete" ? new Command("complete") : await entry.load(io, argv);
    add(root, entry.name, command, { summary: entry.summary, names });
  }
  return root;
}

function add(
  root: RootCommand,
  path: string,
  command: Command,
  { summary, names }: { summary: string; names: Names },
): void {
  const words = root.command(path, summary);
  addOptions(words, command);
  for (const argument of command.registeredArguments) {
    const known = argument.argChoices ?? names[`${path} ${argument.name()}`] ?? [];
    words.argument(argument.name(), offer(known), argument.variadic);
  }
  if (path === "complete") words.argument("shell", offer(shells));
  for (const child of command.commands) {
    add(root, `${path} ${child.name()}`, child, { summary: child.description(), names });
  }
}

function addOptions(words: Words, command: Command): void {
  for (const option of command.createHelp().visibleOptions(command)) {
    const long = option.long?.slice(2);
    if (long === undefined) continue;
    const takesValue = option.required || option.optional;
    if (takesValue) words.option(long, option.description, offer(option.argChoices ?? []));
    else words.option(long, option.description);
  }
}

function offer(values: readonly string[]) {
  return (complete: Complete): void => {
    for (const value of values) complete(value, "");
  };
}

async function namesIn(io: CommandIo): Promise<Names> {
  const config = await loadConfig(configFile(undefined, io.env), io.env).catch(() => undefined);
  const digests = config?.digests.map(({ name }) => name) ?? [];
  return {
    "notify-test receiver": config?.receivers.map(({ name }) => name) ?? [],
    "digest preview name": digests,
    "digest send name": digests,
  };
}
