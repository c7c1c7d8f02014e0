/** `init`: asks for the service's credentials and a receiver, checks them, and writes a configuration. */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { text as readAll } from "node:stream/consumers";
import { Command } from "commander";
import type { Config } from "../config/config.ts";
import { configFile } from "../config/load.ts";
import { formatProblem } from "../config/problem.ts";
import { toError } from "../lib/errors.ts";
import { requireRedisServer } from "../redis-embedded/launch.ts";
import { type CommandIo, configOption, type ExitCode, fail, withExample } from "./cli/command.ts";
import { type CheckResult, checkReceiver, checkService } from "./init/check.ts";
import { createDialogue, type Dialogue } from "./init/dialogue.ts";
import { assertWritable, type Draft, draftOf, loadDraft, makePrivate, writeTogether } from "./init/draft.ts";
import {
  allFields,
  expectedInstead,
  type Field,
  flagOf,
  givenAnswers,
  optionOf,
  receiverFields,
  SECRETS_DIRECTORY,
  serviceFields,
  tokenFields,
} from "./init/fields.ts";

type InitOptions = { readonly config?: string; readonly yes?: true; readonly force?: true; readonly skipChecks?: true };

interface Session {
  readonly io: CommandIo;
  readonly file: string;
  readonly skipChecks: boolean;
  /** Undefined with --yes. */
  readonly dialogue: Dialogue | undefined;
  readonly answers: Map<string, string>;
}

/** Ends the command before anything was written. */
class Stop extends Error {
  readonly exitCode: ExitCode;
  constructor(exitCode: ExitCode, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Exit code 0 written; 1 a check failed or the questions were cancelled; 2 wrong usage; 3 something was unreachable. */
export function initCommand(io: CommandIo): Command {
  const command = new Command("init")
    .description(
      "Ask for the service's credentials and a receiver, check each, and write a configuration. Secrets, among them two " +
        "new tokens for the status page, are written to files that only you can read.",
    )
    .addOption(configOption())
    .option("--yes", "ask nothing: what is missing or fails a check is an error")
    .option("--skip-checks", "write without asking the service and without a test message")
    .option("--force", "replace existing files");
  for (const field of allFields) command.addOption(optionOf(field));
  return withExample(command, "lenswatch init --config lenswatch.yaml").action(async (options: InitOptions) => {
    try {
      await init(io, options);
    } catch (thrown) {
      if (thrown instanceof Stop) return fail(io, thrown.exitCode, `${thrown.message}; nothing was written`);
      if (toError(thrown).name === "AbortError") return fail(io, 1, "cancelled; nothing was written");
      throw thrown;
    }
  });
}

async function init(io: CommandIo, options: InitOptions): Promise<void> {
  const file = configFile(options.config, io.env);
  const dialogue = options.yes ? undefined : createDialogue(io);
  if (!options.yes && !dialogue) throw new Stop(2, "init asks questions, which needs a terminal: use --yes in scripts");
  if (!options.force) refuseExisting(file);
  orStop(file, () => assertWritable(dirname(file)));
  const answers = await givenAnswers(options, io.env, (path) => {
    if (path === "-" && dialogue)
      throw new Stop(2, "a secret from stdin (-) leaves none for answers: use --yes with it");
    return readSecret(path, io);
  });
  const session: Session = { io, file, skipChecks: options.skipChecks === true, dialogue, answers };
  const given = Object.values(receiverFields)
    .filter(([first]) => answers.has(first?.name ?? ""))
    .flat();
  if (!dialogue) refuseAnswers(answers, given);
  await settle(session, serviceFields, (config) => checkService(config, io.signal));
  await settle(session, given.length > 0 ? given : await chooseReceiver(dialogue), (config) =>
    checkTestMessage(session, config),
  );
  for (const { name } of tokenFields) answers.set(name, randomBytes(32).toString("base64url"));
  write(session, draftOf(answers));
  await requireRedisServer(io.env).catch((thrown) => io.stdout.write(`\n${toError(thrown).message}\n`));
}

async function chooseReceiver(dialogue: Dialogue | undefined): Promise<readonly Field[]> {
  const labels = Object.fromEntries(Object.keys(receiverFields).map((kind) => [kind, kind]));
  const kind = await dialogue?.choose("Where are alerts sent?", labels);
  return receiverFields[kind ?? ""] ?? [];
}

async function readSecret(path: string, io: CommandIo): Promise<string> {
  try {
    return path === "-" && io.stdin ? await readAll(io.stdin) : await readFile(path, "utf8");
  } catch (thrown) {
    throw new Stop(3, `${path} cannot be read (${codeOf(thrown)}): check the path`);
  }
}

function orStop(file: string, write: () => void): void {
  try {
    write();
  } catch (thrown) {
    throw new Stop(3, `${file} cannot be written (${codeOf(thrown)}): name another with --config`);
  }
}

function codeOf(thrown: unknown): string {
  return (thrown as NodeJS.ErrnoException).code ?? toError(thrown).message;
}

/** Before any question. */
function refuseExisting(file: string): void {
  const secrets = [...tokenFields, ...allFields].filter(({ key }) => key.secret);
  const targets = [file, ...secrets.map(({ name }) => join(dirname(file), SECRETS_DIRECTORY, name))];
  const existing = targets.filter((path) => existsSync(path)).join(", ");
  if (existing === "") return;
  throw new Stop(1, `there is ${existing} already: name another file with --config, or replace with --force`);
}

/** Without a dialogue: one sentence about everything that is missing or invalid. */
function refuseAnswers(answers: Session["answers"], receiver: readonly Field[]): void {
  const fields = [...serviceFields, ...receiver];
  const isMissing = (field: Field) => !field.isOptional && answerOf(answers, field) === "";
  const missing = fields.filter(isMissing).map(flagOf);
  if (receiver.length === 0) missing.push("a receiver by --slack-url-file, --email-to or --webhook-url-file");
  const problems = fields.flatMap((field) => {
    const expected = isMissing(field) ? undefined : expectedInstead(field, answerOf(answers, field));
    return expected ? [`${flagOf(field)} must be ${expected}`] : [];
  });
  const variables = "(or the variables in `lenswatch init --help`)";
  if (missing.length > 0) problems.unshift(`init needs ${missing.join(", ")} ${variables}`);
  if (problems.length > 0) throw new Stop(2, problems.join("; "));
}

function answerOf(answers: Session["answers"], { name, initial = "" }: Field): string {
  return answers.get(name) ?? initial;
}

type Check = (config: Config) => Promise<CheckResult>;

/** Asks what is not given, and goes on when the check has passed or is skipped on purpose. */
async function settle(session: Session, fields: readonly Field[], check: Check): Promise<void> {
  const { io, dialogue, answers, skipChecks } = session;
  for (const field of fields) {
    const isFine = answers.has(field.name) && expectedInstead(field, answerOf(answers, field)) === undefined;
    if (!isFine) answers.set(field.name, dialogue ? await dialogue.ask(field) : answerOf(answers, field));
  }
  for (;;) {
    const config = loadDraft(draftOf(answers));
    const isValid = "receivers" in config;
    if (isValid && skipChecks) return;
    const verdict = isValid ? await check(config) : { passed: false, text: config.map(formatProblem).join("; ") };
    if (verdict.passed) return void io.stdout.write(`${verdict.text}\n`);
    if (!dialogue) throw new Stop(verdict.isPassing ? 3 : 1, `${verdict.text} (--skip-checks goes on all the same)`);
    io.stdout.write(`\n${verdict.text}.\n\n`);
    if ((await decide(session, dialogue, { fields, isValid })) === "skip") return;
  }
}

/** After a failed check: one answer is changed, nothing, or the check is left out. */
async function decide(
  { answers }: Session,
  dialogue: Dialogue,
  { fields, isValid }: { readonly fields: readonly Field[]; readonly isValid: boolean },
): Promise<"again" | "skip"> {
  const changes = fields.map(({ name, key }) => {
    const value = key.secret ? "" : ` (${answers.get(name) || "none"})`;
    return [name, `change ${name}${value}`];
  });
  const skip = isValid ? { skip: "go on without this check" } : {};
  const labels: Record<string, string> = { again: "try again", ...Object.fromEntries(changes), ...skip, stop: "stop" };
  const next = await dialogue.choose("What next?", labels);
  if (next === "stop") throw new DOMException("stopped", "AbortError");
  const field = fields.find(({ name }) => name === next);
  if (field) answers.set(field.name, await dialogue.ask(field, answerOf(answers, field)));
  return next === "skip" ? "skip" : "again";
}

async function checkTestMessage({ io, dialogue }: Session, config: Config): Promise<CheckResult> {
  const verdict = await checkReceiver(config, io.signal);
  if (!verdict.passed || !dialogue) return verdict;
  if (await dialogue.confirm(`${verdict.text}. Did it arrive?`)) return verdict;
  return { passed: false, text: "The test message was accepted and did not arrive: look at where it was sent" };
}

function write({ io, file }: Session, draft: Draft): void {
  io.signal.throwIfAborted();
  const directory = join(dirname(file), SECRETS_DIRECTORY);
  const secrets = [...draft.secrets].map(([name, text]) => ({ path: join(dirname(file), name), text, mode: 0o600 }));
  orStop(file, () => {
    if (makePrivate(directory)) io.stdout.write(`${directory} is now readable by you alone\n`);
    writeTogether([...secrets, { path: file, text: draft.text, mode: 0o644 }]);
  });
  const config = file === configFile(undefined, io.env) ? "" : ` --config ${file}`;
  io.stdout.write(`
Written to ${file}, with ${secrets.length} secrets in ${directory}/ that only you can read. Next:

  lenswatch check-config${config}
  lenswatch run${config}

The status page is then at http://127.0.0.1:9595/; sign in with the token in ${join(directory, "admin_token")}.
`);
}
