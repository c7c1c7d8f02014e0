/** The settings that `init` asks for: each has a place in the configuration, an option and a variable. */
import { Option } from "commander";
import type { Environment } from "../../config/document.ts";
import { type Key, keyAt } from "../../config/key.ts";
import type { Path } from "../../config/problem.ts";
import { rootSection } from "../../config/schema.ts";

export interface Field {
  /** `base_url`: LENSWATCH_BASE_URL, --base-url and, for a secret, --base-url-file and the name of its file. */
  readonly name: string;
  readonly path: Path;
  readonly key: Key;
  /** May be left empty; `initial` is what Enter gives otherwise. */
  readonly isOptional: boolean;
  readonly initial: string | undefined;
}

/** Beside the configuration. */
export const SECRETS_DIRECTORY = "secrets";

/** Values by the field's name; a field without an entry has none. */
export type Answers = ReadonlyMap<string, string>;

function field(name: string, path: Path, { isOptional = false, initial }: Partial<Field> = {}): Field {
  const key = keyAt(rootSection, path);
  if (!key) throw new Error(`the configuration has no key for ${name}`);
  return { name, path, key, isOptional, initial };
}

const serviceKeys = ["base_url", "ws_url", "auth_url", "client_id", "client_secret", "audience"];
export const serviceFields: readonly Field[] = serviceKeys.map((name) => field(name, ["service", name]));

const inReceiver = (...path: Path) => ["receivers", 0, ...path];

/** By what the receiver is called in questions. */
export const receiverFields: Readonly<Record<string, readonly Field[]>> = {
  Slack: [field("slack_url", inReceiver("slack_configs", 0, "api_url"))],
  "e-mail": [
    field("email_to", inReceiver("email_configs", 0, "to")),
    field("smtp_host", ["smtp", "host"]),
    field("smtp_port", ["smtp", "port"], { initial: "587" }),
    field("smtp_from", ["smtp", "from"]),
    field("smtp_username", ["smtp", "username"], { isOptional: true }),
    field("smtp_password", ["smtp", "password"], { isOptional: true }),
    field("smtp_require_tls", ["smtp", "require_tls"], { initial: "true" }),
  ],
  "a webhook": [field("webhook_url", inReceiver("webhook_configs", 0, "url"))],
};

/** Made, never asked for. */
export const tokenFields: readonly Field[] = ["admin_token", "read_token"].map((name) => field(name, ["http", name]));

export const allFields: readonly Field[] = [...serviceFields, ...Object.values(receiverFields).flat()];

/** `--base-url`, or `--client-secret-file` for a secret. */
export function flagOf({ name, key }: Field): string {
  return `--${name.replaceAll("_", "-")}${key.secret ? "-file" : ""}`;
}

export function optionOf(one: Field): Option {
  const what = one.key.doc.charAt(0).toLowerCase() + one.key.doc.slice(1, -1);
  const from = one.key.secret ? ", read from a file; - is stdin" : "";
  return new Option(`${flagOf(one)} <${one.key.secret ? "file" : "value"}>`, `${what}${from} ($${variableOf(one)})`);
}

function variableOf({ name }: Field): string {
  return `LENSWATCH_${name.toUpperCase()}`;
}

/** The answers that options and the environment give; `readSecret` gives the text of a file. */
export async function givenAnswers(
  options: Readonly<Record<string, unknown>>,
  env: Environment,
  readSecret: (file: string) => Promise<string>,
): Promise<Map<string, string>> {
  const answers = new Map<string, string>();
  for (const one of allFields) {
    const option = options[optionOf(one).attributeName()];
    const value =
      typeof option !== "string" ? env[variableOf(one)] : one.key.secret ? await readSecret(option) : option;
    if (value) answers.set(one.name, value.replace(/\r?\n$/, ""));
  }
  return answers;
}

/** `a whole number from 1 to 65535`, where the value is not; undefined where it is fine. */
export function expectedInstead({ key, isOptional }: Field, value: string): string | undefined {
  if (value === "" && isOptional) return undefined;
  return key.schema.safeParse(value).error?.issues[0]?.message;
}
