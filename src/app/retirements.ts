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

export class Retirements {
  readonly #runtime: Runtime;
  readonly #stopping: AbortSignal;
  readonly #isConfigured: (id: string) => boolean;
  readonly #retiring = new Map<string, Retirement>();

  constructor(runtime: Runtime, stopping: AbortSignal, isConfigured: (id: string) => boolean) {
    this.#runtime = runtime;
    this.#stopping = stopping;
    this.#isConfigured = isConfigured;
  }

  ids(): ReadonlySet<string> {
    return new Set(this.#retiring.keys());
  }

  add(ids: readonly string[]): void {
    for (const id of ids) this.#retiring.set(id, { stop: new AbortController(), done: Promise.resolve() });
  }

  /** Integrations that are configured again do not retire; one that is sending ends finishes its message first. */
  async cancel(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const retirement = this.#retiring.get(id);
      if (!retirement) continue;
      retirement.stop.abort();
      await withDeadline(retirement.done, DRAIN_MS).catch(() => {});
      this.#retiring.delete(id);
    }
  }

  /** Sends the ends owed through the integrations of `setup`; what cannot be sent is logged and counted. */
  async run(setup: Setup, ids: readonly string[]): Promise<void> {
    await Promise.all(
      ids.map((id) => {
        const retirement = this.#retiring.get(id);
        if (!retirement) return undefined;
        retirement.done = this.#retire(setup, id, retirement);
        return retirement.done;
      }),
    );
    const left = setup.senders.list.filter(({ id }) => ids.includes(id) && !this.#isConfigured(id));
    await this.#reportOwed(left);
  }

  async #retire(setup: Setup, id: string, retirement: Retirement): Promise<void> {
    const { clock, log, store, metrics } = this.#runtime;
    const deps = { clock, log, groups: store.groups, ...deliveryOf({ ...setup, metrics }) };
    const signal = AbortSignal.any([retirement.stop.signal, this.#stopping]);
    await retireIntegration(deps, id, signal).catch((thrown: unknown) => {
      if (!signal.aborted) log.error({ err: toError(thrown), integration: id }, "retiring failed");
    });
    if (this.#retiring.get(id) === retirement) this.#retiring.delete(id);
  }

  async #reportOwed(left: readonly Integration[]): Promise<void> {
    const { log, metrics } = this.#runtime;
    if (left.length === 0 || this.#stopping.aborted) return;
    await reportOwedEnds({ ...this.#runtime, owed: metrics.resolvedOwed }, left).catch((thrown: unknown) => {
      if (!this.#stopping.aborted) log.error({ err: toError(thrown) }, "owed ends could not be read");
    });
  }
}
