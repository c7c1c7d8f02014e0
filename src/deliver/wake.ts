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
}

/** Wakes the integrations whose wake-up was lost. */
export async function wakeOverdue({ clock, groups, integrations, wake }: OverdueDeps): Promise<void> {
  const due = await groups.nextDue(integrations.map(({ id }) => id));
  const overdue = [...due].filter(([, at]) => at <= clock.now() - OVERDUE_MS);
  if (overdue.length > 0) await wake(new Map(overdue));
}
