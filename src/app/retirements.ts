/** Integrations that left the configuration, while they send the ends they owe. */
import type { Integration } from "../alerting/route.ts";
import { retireIntegration } from "../deliver/retire-integration.ts";
import { withDeadline } from "../lib/closer.ts";
import { toError } from "../lib/errors.ts";
import { reportOwedEnds } from "../poll/reroute.ts";
import { deliveryOf } from "./notify-jobs.ts";
import type { Runtime } from "./runtime.ts";
import type { Setup } from "./setup.ts";

/** Longer than any send: after it, integrations and the service's client are closed whatever is under way. */
export const DRAIN_MS = 15_000;

type Retirement = { readonly stop: AbortController; done: Promise<void> };

export type Retirements = ReturnType<typeof createRetirements>;

/** `stopping` gives up what is still owed; `isConfigured`: in the setup at work. */
export function createRetirements(runtime: Runtime, stopping: AbortSignal, isConfigured: (id: string) => boolean) {
  const { clock, log, store, metrics, replicas } = runtime;
  const retiring = new Map<string, Retirement>();

  /** An integration may be configured in the one that is active instead. */
  const isActive = () => replicas.active().has("notify");

  async function retire(setup: Setup, id: string, retirement: Retirement): Promise<void> {
    const { groups, conversations } = store;
    const checkActive = () => replicas.checkActive("notify");
    const own = { clock, log, groups, conversations, isActive, checkActive };
    const deps = { ...own, ...deliveryOf({ ...setup, metrics }) };
    const signal = AbortSignal.any([retirement.stop.signal, stopping]);
    await retireIntegration(deps, id, signal).catch((thrown: unknown) => {
      if (!signal.aborted) log.error({ err: toError(thrown), integration: id }, "retiring failed");
    });
    if (retiring.get(id) === retirement) retiring.delete(id);
  }

  async function reportOwed(left: readonly Integration[]): Promise<void> {
    if (left.length === 0 || stopping.aborted || !isActive()) return;
    await reportOwedEnds({ ...runtime, owed: metrics.resolvedOwed }, left).catch((thrown: unknown) => {
      if (!stopping.aborted) log.error({ err: toError(thrown) }, "owed ends could not be read");
    });
  }

  return {
    ids: (): ReadonlySet<string> => new Set(retiring.keys()),

    add(ids: readonly string[]): void {
      for (const id of ids) retiring.set(id, { stop: new AbortController(), done: Promise.resolve() });
    },

    /** Integrations that are configured again do not retire; one that is sending ends finishes its message first. */
    async cancel(ids: readonly string[]): Promise<void> {
      for (const id of ids) {
        const retirement = retiring.get(id);
        if (!retirement) continue;
        retirement.stop.abort();
        await withDeadline(retirement.done, DRAIN_MS).catch(() => {});
        retiring.delete(id);
      }
    },

    /** Sends the ends owed through the integrations of `setup`; what cannot be sent is logged and counted. */
    async run(setup: Setup, ids: readonly string[]): Promise<void> {
      for (const id of ids) {
        const retirement = retiring.get(id);
        if (retirement) retirement.done = retire(setup, id, retirement);
      }
      await Promise.all(ids.map((id) => retiring.get(id)?.done));
      await reportOwed(setup.senders.list.filter(({ id }) => ids.includes(id) && !isConfigured(id)));
    },
  };
}
