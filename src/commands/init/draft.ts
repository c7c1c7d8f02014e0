/** The configuration that `init` writes, as text, with the files of its secrets: all of them, complete, or none. */
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import { dirname } from "node:path";
import type { Config } from "../../config/config.ts";
import { parseConfig } from "../../config/load.ts";
import type { ConfigProblem } from "../../config/problem.ts";
import { type Answers, allFields, type Field, SECRETS_DIRECTORY, tokenFields } from "./fields.ts";

export interface Draft {
  readonly text: string;
  /** Contents by path, relative to the configuration's directory. */
  readonly secrets: ReadonlyMap<string, string>;
}

export const RECEIVER = "ops";

const HEADER = `\
# Written by \`lenswatch init\`. Each secret is in a file of its own (\`..._file\`). Changed files are read at once;
# \`lenswatch check-config\` validates them. Everything else has a default: see docs/configuration.md of lenswatch.
# Without the section \`redis\`, an embedded redis-server is started with its data in ./data.`;

/** Also of incomplete answers, to be checked one after the other. */
export function draftOf(answers: Answers): Draft {
  const written = [...allFields, ...tokenFields].filter(({ name }) => answers.get(name));
  const textOf = ({ name }: Field) => answers.get(name) ?? "";
  const entry = (field: Field) => {
    const key = String(field.path.at(-1));
    // JSON is YAML; `${` alone would stand for a variable.
    const text = JSON.stringify(textOf(field).replaceAll("${", () => "$${"));
    return field.key.secret ? `${key}_file: ${pathOf(field)}` : `${key}: ${text}`;
  };
  const lines = (section: string, indent: string, first = indent) =>
    written
      .filter(({ path }) => path[0] === section)
      .flatMap((field) => [
        ...(section === "receivers" ? [`    ${field.path[2]}:`] : []),
        `${indent}# ${field.key.doc}`,
        `${first}${entry(field)}`,
      ]);
  const sections = {
    service: lines("service", "  "),
    receivers: [`  - name: ${RECEIVER}`, ...lines("receivers", "      ", "      - ")],
    smtp: lines("smtp", "  "),
    http: lines("http", "  "),
  };
  const parts = Object.entries(sections).filter(([, all]) => all.length > 0);
  const text = parts.map(([section, all]) => `\n${section}:\n${all.join("\n")}\n`).join("");
  const secrets = written
    .filter(({ key }) => key.secret)
    .map((field) => [pathOf(field), `${textOf(field)}\n`] as const);
  return { text: `${HEADER}\n${text}`, secrets: new Map(secrets) };
}

function pathOf({ name }: Field): string {
  return `${SECRETS_DIRECTORY}/${name}`;
}

/** The configuration as the daemon would read it. */
export function loadDraft({ text, secrets }: Draft): Config | readonly ConfigProblem[] {
  const readSecret = (path: string) => secrets.get(path) ?? "";
  const parsed = parseConfig(text, { file: "lenswatch.yaml", env: {}, readSecret });
  return "config" in parsed ? parsed.config : parsed.problems;
}

interface NewFile {
  readonly path: string;
  readonly text: string;
  readonly mode: number;
}

/** Throws where the directory, or the nearest one above it that exists, cannot be written to. */
export function assertWritable(directory: string): void {
  if (fs.existsSync(directory)) fs.accessSync(directory, fs.constants.W_OK);
  else assertWritable(dirname(directory));
}

/** Makes the directory, for its owner alone, and narrows one that others can read: then it returns true. */
export function makePrivate(directory: string): boolean {
  fs.mkdirSync(dirname(directory), { recursive: true });
  if (!fs.existsSync(directory)) fs.mkdirSync(directory, { mode: 0o700 });
  const isWider = (fs.statSync(directory).mode & 0o077) !== 0;
  if (isWider) fs.chmodSync(directory, 0o700);
  return isWider;
}

/**
 * Synchronous, so that no signal comes in between; the last file is put in place when the others are. Existing files are
 * replaced.
 */
export function writeTogether(files: readonly NewFile[]): void {
  const suffix = `.${randomBytes(4).toString("hex")}.new`;
  try {
    for (const { path, text, mode } of files) fs.writeFileSync(path + suffix, text, { mode, flag: "wx", flush: true });
    for (const { path } of files) fs.renameSync(path + suffix, path);
  } finally {
    for (const { path } of files) fs.rmSync(path + suffix, { force: true });
  }
}
