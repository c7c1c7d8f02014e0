/**
 * Delivery: a wake-up makes an integration send what is due there, one group (or one storm) at a time, until nothing
 * is. Retries are due times, stored with the group.
 */
import { createRepeats } from "../alerting/repeats.ts";
import { toError } from "../lib/errors.ts";
import type { DeliverDeps, DeliveryRun } from "./model.ts";
import { LEASE_MS, LONGEST_LEASE_MS, turn } from "./turn.ts";

export function createDeliver(deps: DeliverDeps) {
  const underWay = new Map<string, { again: boolean }>();
  const failing = new Set<string>();
  const repeats = createRepeats();
  const queue = new Map<string, number>();
  const [stopping, draining] = [new AbortController(), new AbortController()];
  const claimsMore = () => !draining.signal.aborted;

  async function deliverAll(run: DeliveryRun): Promise<void> {
    let leaseMs = LEASE_MS;
    let gathersEnds = false;
    while (claimsMore()) {
      const served = await turn(run, leaseMs, gathersEnds);
      gathersEnds = served === "ends" || (gathersEnds && served === "late");
      if (served === "nothing") return;
      if (served === "late") leaseMs = Math.min(LONGEST_LEASE_MS, 2 * leaseMs);
      else if (served === "one") leaseMs = LEASE_MS;
    }
  }

  return {
    /** Delivers what is due at an integration; a call during another makes that one check once more. */
    async deliver(id: string): Promise<void> {
      const sender = deps.senders.get(id);
      if (!sender) return;
      const running = underWay.get(id);
      if (running) {
        running.again = true;
        return;
      }
      const state = { again: true };
      underWay.set(id, state);
      const { integration } = sender;
      try {
        while (state.again && claimsMore()) {
          state.again = false;
          const signals = { stopping: stopping.signal, draining: draining.signal };
          await deliverAll({ deps, sender, integration, ...signals, queue, failing, repeats });
        }
      } catch (thrown) {
        deps.log.error({ err: toError(thrown), integration: integration.name }, "delivery failed, retrying");
      } finally {
        underWay.delete(id);
      }
    },

    /** True while one is delivered to, or waits for that here. */
    isUnderWay: (id: string) => underWay.has(id),

    /** Claims nothing more; a message under way is sent and settled. */
    drain: () => draining.abort(),

    /** Drains, and gives up what Redis does not take. */
    stop(): void {
      draining.abort();
      stopping.abort();
    },
  };
}
