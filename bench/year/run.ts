/** One year: the ledger of a mix, played and compared. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Redis } from "ioredis";
import type { Config } from "../../src/config/config.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { Instant } from "../../src/lib/clock.ts";
import { type Expectation, expectationsOf } from "./expect.ts";
import { createFailing } from "./failing.ts";
import { createFleet, DAY, type Fleet } from "./fleet.ts";
import { createLedger } from "./ledger.ts";
import { type Account, createMatching } from "./match.ts";
import type { Mix } from "./mix.ts";
import { peopleOf, type SentMessage } from "./notify-side.ts";
import { playYear } from "./player.ts";

export interface YearOptions {
  readonly redis: Redis;
  readonly config: Config;
  readonly mix: Mix;
  readonly seed: number;
  readonly recordings: number;
  readonly days: number;
  readonly everyInterval?: boolean;
  progress?(at: Instant): void;
}

interface Year {
  readonly fleet: Fleet;
  readonly expectations: readonly Expectation[];
  readonly messages: readonly SentMessage[];
  /** Of each integration that people read. */
  accountsOf(messages: readonly SentMessage[]): Account[];
}

/** The example of all keys: the default rules, a receiver for what is critical and one for warnings. */
export const exampleConfig = fileURLToPath(new URL("../../config/lenswatch.full.yaml", import.meta.url));

/** A configuration that is only played: variables that are not set have some value, a different one each: tokens must not be equal. */
export function loadPlayed(file: string): Promise<Config> {
  const names = [...readFileSync(file, "utf8").matchAll(/\$\{(\w+)\}/g)].map(([, name = ""]) => name);
  return loadConfig(file, { ...Object.fromEntries(names.map((name) => [name, playedValue(name)])), ...process.env });
}

function playedValue(name: string): string {
  if (name.endsWith("BOT_TOKEN")) return "xoxb-played-0123456789";
  if (name.endsWith("APP_TOKEN")) return "xapp-played-0123456789";
  return `${name.endsWith("WS_URL") ? "wss" : "https"}://example.com/${name}`;
}

const BEGIN = Date.UTC(2026, 0, 1);

export async function runYear({ mix, seed, recordings, days, ...options }: YearOptions): Promise<Year> {
  const { config } = options;
  const { rules, route, watch } = config;
  const fleet = createFleet(mix, recordings, seed, { from: BEGIN, to: BEGIN + days * DAY });
  const ledger = createLedger(mix, fleet, seed);
  const messages = await playYear({ ...options, fleet, ledger });
  const intervalMs = watch.statusIntervalMs;
  const expectations = expectationsOf(ledger, {
    fleet,
    rules,
    intervalMs,
    groupWaitMs: route.groupWaitMs,
    failing: createFailing(ledger, fleet, intervalMs),
  });
  const account = createMatching({ fleet, rules, route, intervalMs, expectations });
  return {
    fleet,
    expectations,
    messages,
    accountsOf: (all) => peopleOf(config).map((integration) => account(integration, all)),
  };
}
