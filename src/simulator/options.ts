import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/log.ts";
import { SimulatorError } from "./errors.ts";
import type { Scenario } from "./scenario.ts";

export interface SimulatorOptions {
  readonly locations: number;
  readonly recordingsPerLocation: number;
  /** Any whole number: the same one gives the same world. */
  readonly seed: number;
  /** 0, the default, takes a free one. */
  readonly port?: number;
  /** 127.0.0.1 unless given. */
  readonly host?: string;
  /** What happens when; see `parseScenario`. */
  readonly scenario?: Scenario;
  readonly clock?: Clock;
  readonly log?: Logger;
  /** An hour unless given, ms. */
  readonly tokenLifetimeMs?: number;
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** Whether a recording under an uploading schedule is shown offline while it does not upload; no by default. */
  readonly offlineOutsideSchedule?: boolean;
}

const MOST_RECORDINGS = 1_000_000;

/** Throws SimulatorError `bad_option` that names every option out of range. */
export function checkOptions(options: SimulatorOptions): void {
  const { locations, recordingsPerLocation, seed, port = 0, tokenLifetimeMs = 1 } = options;
  const isCount = (value: number) => Number.isSafeInteger(value) && value >= 0;
  const rules: [boolean, string][] = [
    [isCount(locations), "locations must be a whole number, 0 or more"],
    [isCount(recordingsPerLocation), "recordings per location must be a whole number, 0 or more"],
    [!(locations * recordingsPerLocation > MOST_RECORDINGS), "there can be at most 1,000,000 recordings"],
    [Number.isSafeInteger(seed), "seed must be a whole number"],
    [isCount(port) && port <= 65_535, "port must be a whole number from 0 to 65535"],
    [tokenLifetimeMs > 0, "the token lifetime must be more than 0 ms"],
  ];
  const broken = rules.filter(([holds]) => !holds).map(([, rule]) => rule);
  if (broken.length === 0) return;
  throw new SimulatorError("bad_option", `The simulator cannot start: ${broken.join("; ")}.`);
}
