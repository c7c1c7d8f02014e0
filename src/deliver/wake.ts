/** Wake-ups of deliveries: a job for an integration at the time at which it has something due. The due index is the truth. */
import type { Queues } from "../cluster/queues.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import type { Store } from "../store/store.ts";

type Wake = (due: ReadonlyMap<string, Instant>) => Promise<void>;

/** Wake-ups of one integration within this time are one job. */
const SLOT_MS = 20;
/** A reminder is hours off: it is woken when overdue instead of keeping a job for each message. */
const FAR_MS = 10 * 60_000;
/** A wake-up lost this long ago is given again. */
const OVERDUE_MS = 300;
const LOOKED_AT = 1_000;

/** Gives `wake`: adds a job per integration that has something due, at its time, unless that is more than FAR_MS off. */
export function createWake(queues: Pick<Queues, "add">, clock: Clock): Wake {
  return async (due) => {
    const now = clock.now();
    await Promise.all(
      [...due].map(([integration, at]) => {
        if (at <= now) return queues.add("deliver", { integration });
        if (at - now > FAR_MS) return undefined;
        const slot = Math.ceil(at / SLOT_MS) * SLOT_MS;
        const id = `${Buffer.from(integration).toString("base64url")}-${slot}`;
        return queues.add("deliver", { integration }, { id, delayMs: slot - now });
      }),
    );
  };
}

interface OverdueDeps {
  readonly clock: Clock;
  readonly groups: Pick<Store["groups"], "nextDue">;
  readonly integrations: readonly { readonly id: string }[];
  readonly wake: Wake;
  /** One that is delivered to by this process needs no wake-up. */
  isUnderWay(id: string): boolean;
}

/** Gives what wakes the integrations whose wake-up was lost: so many each time, one after another. */
export function createWakeOverdue({ clock, groups, integrations, wake, isUnderWay }: OverdueDeps): () => Promise<void> {
  const ids = integrations.map(({ id }) => id);
  let from = 0;
  return async () => {
    const due = await groups.nextDue(ids.slice(from, from + LOOKED_AT));
    from = from + LOOKED_AT < ids.length ? from + LOOKED_AT : 0;
    const isOverdue = (id: string, at: Instant) => at <= clock.now() - OVERDUE_MS && !isUnderWay(id);
    const overdue = [...due].filter(([id, at]) => isOverdue(id, at));
    if (overdue.length > 0) await wake(new Map(overdue));
  };
}
