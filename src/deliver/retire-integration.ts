/** Removed integrations send the ends they owe, by the claims, pace and backoff of any message. */
import { setTimeout as sleep } from "node:timers/promises";
import { alertsAtRetirement, needsUpdate } from "../alerting/needs-update.ts";
import type { Instant } from "../lib/clock.ts";
import type { Claimed } from "../store/groups.ts";
import type { Store } from "../store/store.ts";
import { createDeliver } from "./deliver.ts";
import type { DeliverDeps } from "./model.ts";

/** After this, ends still owed are given up. */
const GIVE_UP_MS = 60_000;
const CHECK_MS = 500;

interface RetireDeps extends Omit<DeliverDeps, "decide" | "wake" | "groups" | "stormMs"> {
  readonly groups: DeliverDeps["groups"] & Pick<Store["groups"], "hasten" | "owes">;
  /** False where another configuration is active, as far as this replica knows: the integration may be back. */
  isActive(): boolean;
}

/** True once every end owed there was sent; false where that was given up, or `signal` was aborted. */
export async function retireIntegration(deps: RetireDeps, integration: string, signal: AbortSignal): Promise<boolean> {
  const { groups, clock } = deps;
  const giveUpAt = clock.now() + GIVE_UP_MS;
  let next: Instant | undefined;
  // Its ends are not to wait for what was to be said next.
  const retired = (claim: Claimed): Claimed => {
    return { ...claim, alerts: alertsAtRetirement(claim, clock.now()), dueSince: new Map(), isForRoot: false };
  };
  const delivery = createDeliver({
    ...deps,
    groups: {
      ...groups,
      async claim(...args) {
        if (!deps.isActive()) return { kind: "idle", until: undefined };
        const claim = await groups.claim(...args);
        if (claim.kind === "storm") return { ...claim, groups: claim.groups.map(retired) };
        return claim.kind === "group" ? retired(claim) : claim;
      },
    },
    // Mute times do not apply.
    decide: needsUpdate,
    // No more alerts come: there is no storm to gather.
    stormMs: 0,
    wake: async (due) => {
      next = due.get(integration);
    },
  });
  signal.addEventListener("abort", () => delivery.drain(), { once: true });
  if (signal.aborted) return false;
  if (!(await groups.owes(integration))) return true;
  await groups.hasten(integration, clock.now());
  while (!signal.aborted) {
    next = undefined;
    await delivery.deliver(integration);
    if (!(await groups.owes(integration))) {
      deps.log.info({ integration }, "retired integration sent the ends it owed");
      return true;
    }
    if (Math.max(next ?? 0, clock.now()) > giveUpAt) return false;
    await sleep(CHECK_MS, undefined, { signal }).catch(() => {});
  }
  return false;
}
