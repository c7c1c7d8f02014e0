/** What is done again and again while an engine is at work: one round at a time, whatever fails in it. */
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";

const RECONCILE_MS = 1_000;

export interface ReconcileLoop {
  start(): void;
  /** Begins no round more; resolves when the one under way has ended. */
  stop(): Promise<void>;
}

export function createReconcileLoop(round: () => Promise<void>, log: Logger): ReconcileLoop {
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
      }, RECONCILE_MS);
    },
    async stop() {
      clearInterval(timer);
      await underWay;
    },
  };
}
