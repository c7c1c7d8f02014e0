/** What is done again and again while an engine is at work: one round at a time, whatever fails in it. */
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";

const HEAL_MS = 1_000;

export interface Healing {
  start(): void;
  /** Begins no round more; resolves when the one under way has ended. */
  stop(): Promise<void>;
}

export function createHealing(round: () => Promise<void>, log: Logger): Healing {
  let timer: NodeJS.Timeout | undefined;
  let underWay: Promise<void> | undefined;
  return {
    start() {
      timer = setInterval(() => {
        underWay ??= round()
          .catch((thrown: unknown) => log.debug({ err: toError(thrown) }, "self-healing failed; tried again"))
          .finally(() => {
            underWay = undefined;
          });
      }, HEAL_MS);
    },
    async stop() {
      clearInterval(timer);
      await underWay;
    },
  };
}
