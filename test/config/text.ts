/** Configuration texts for tests: a valid beginning to which a test adds what it is about. */

import type { Config } from "../../src/config/config.ts";
import { parseConfig } from "../../src/config/load.ts";
import { type ConfigProblem, formatProblem } from "../../src/config/problem.ts";

export const service = `service:
  base_url: https://core.example.com
  ws_url: wss://metrics.example.com
  auth_url: https://issuer.example.com
  client_id: an-id
  client_secret: a-secret
  audience: https://core.example.com
`;

export const receivers = `receivers:
  - name: ops
    slack_configs:
      - api_url: https://hooks.example.com/services/T0/B0/x
`;

type Env = Record<string, string | undefined>;

/** The problems of a text, as they are printed. */
export function problemsOf(text: string, env: Env = {}, readSecret?: (path: string) => string): string[] {
  return listProblems(text, env, readSecret).map(formatProblem);
}

export function listProblems(
  text: string,
  env: Env = {},
  readSecret?: (path: string) => string,
): readonly ConfigProblem[] {
  const parsed = parseConfig(text, { file: "lenswatch.yaml", env, ...(readSecret ? { readSecret } : {}) });
  return "problems" in parsed ? parsed.problems : [];
}

/** The configuration of a text; fails the test where there are problems. */
export function configOf(text: string, env: Env = {}, readSecret?: (path: string) => string): Config {
  const parsed = parseConfig(text, { file: "lenswatch.yaml", env, ...(readSecret ? { readSecret } : {}) });
  if ("problems" in parsed) throw new Error(parsed.problems.map(formatProblem).join("\n"));
  return parsed.config;
}

/** The warnings of a valid text, as they are printed. */
export function warningsOf(text: string, env: Env = {}): string[] {
  const parsed = parseConfig(text, { file: "lenswatch.yaml", env });
  if ("problems" in parsed) throw new Error(parsed.problems.map(formatProblem).join("\n"));
  return parsed.warnings.map(formatProblem);
}
