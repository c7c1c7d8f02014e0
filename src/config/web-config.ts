/** Reads the file at `http.web_config_file`; its paths, and those of problems, start beside it. */
import { dirname, isAbsolute, join } from "node:path";
import { isMapping, type Raw, readYaml } from "./document.ts";
import { type ConfigProblem, type Finding, toProblems } from "./problem.ts";
import { codeOf, type ReadSecret } from "./secrets.ts";
import { validateWithSecrets } from "./validate.ts";
import { buildWeb, type WebConfig, webSection } from "./web-config-schema.ts";

interface ReadWebConfig {
  /** Undefined without a file, or with problems. */
  readonly web?: WebConfig;
  /** Of the file itself. */
  readonly problems: readonly ConfigProblem[];
  /** Of the key that names it. */
  readonly findings: readonly Finding[];
  /** Whether the file asks for TLS, also where it has problems. */
  readonly isTls: boolean;
}

/** The web configuration that a configuration's tree names; `file` is the configuration's own path. Never throws. */
export function readWebConfig(tree: Raw, file: string, readSecret: ReadSecret): ReadWebConfig {
  const http = isMapping(tree) ? tree.http : undefined;
  const name = isMapping(http) ? http.web_config_file : undefined;
  if (typeof name !== "string" || name === "") return { problems: [], findings: [], isTls: false };
  const from = (start: string, path: string) => (isAbsolute(path) ? path : join(dirname(start), path));
  try {
    const text = readSecret(name);
    return parseWebConfig(text, from(file, name), (path) => readSecret(from(name, path)));
  } catch (thrown) {
    const found = `a path that cannot be read${codeOf(thrown)}`;
    const finding = { path: ["http", "web_config_file"], found, expected: "the path of a web configuration file" };
    return { problems: [], findings: [{ kind: "secret", ...finding }], isTls: false };
  }
}

function parseWebConfig(text: string, file: string, readSecret: ReadSecret): ReadWebConfig {
  const document = readYaml(text, undefined);
  const isTls = isMapping(document.tree) && document.tree.tls_server_config !== undefined;
  const checked = validateWithSecrets(document, webSection, readSecret);
  if ("value" in checked && checked.findings.length === 0)
    return { web: buildWeb(checked.value), problems: [], findings: [], isTls };
  return { problems: toProblems(checked.findings, document, { file, ...checked }), findings: [], isTls };
}
