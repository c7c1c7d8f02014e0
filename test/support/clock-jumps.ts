/** A clock that runs as the machine's and can jump ahead, so that hours pass in seconds. */
import type { Config } from "../../src/config/config.ts";
import type { Clock } from "../../src/lib/clock.ts";
import type { Stage } from "./app.ts";
import { until } from "./until.ts";

interface LeapingClock extends Clock {
  leap(ms: number): void;
}

/** The daemon sets its clock by Redis every minute; tests end before. */
export function leapingClock(): LeapingClock {
  let ahead = 0;
  return {
    now: () => Date.now() + ahead,
    leap(ms) {
      ahead += ms;
    },
  };
}

/** Sweeps more often than a configuration file allows: a clock that jumps does not hasten them. */
export const sweepingOften = (config: Config): Config => ({
  ...config,
  watch: { ...config.watch, statusIntervalMs: 40 },
});

export interface Sweeps extends Disposable {
  /** Resolves once the only shard was swept: the current state is evaluated and committed. */
  now(): Promise<void>;
}

export function sweepsOf({ simulator }: Pick<Stage, "simulator">): Sweeps {
  let asked = 0;
  const count = ({ endpoint }: { endpoint: string }) => {
    if (endpoint === "status/uptime") asked++;
  };
  simulator.events.on("request", count);
  return {
    async now() {
      const before = asked;
      // One shard is swept by one at a time: the second question comes after the first answer is remembered.
      await until("it was swept", () => asked >= before + 2);
    },
    [Symbol.dispose]: () => void simulator.events.off("request", count),
  };
}
