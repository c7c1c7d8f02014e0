/**
 * Teardown registered on the line after construction: named steps, run last first, each raced with its
 * deadline, all of them run even when one fails, once however often `close` is called.
 */
import { toError } from "./errors.ts";

interface Step {
  readonly name: string;
  readonly close: () => unknown;
  readonly deadlineMs: number;
}

export class Closer {
  readonly #steps: Step[] = [];
  #closing: Promise<void> | undefined;

  /** Registers a step; `deadlineMs` is how long it may take before the next one starts. */
  add(name: string, close: () => unknown, deadlineMs = 2_000): void {
    this.#steps.push({ name, close, deadlineMs });
  }

  /** Runs all steps, last registered first. Throws an AggregateError naming those that failed or overran. */
  close(): Promise<void> {
    this.#closing ??= this.#run();
    return this.#closing;
  }

  async #run(): Promise<void> {
    const failures: Error[] = [];
    for (const step of this.#steps.reverse()) {
      try {
        await withDeadline(Promise.resolve().then(step.close), step.deadlineMs);
      } catch (thrown) {
        failures.push(new Error(`${step.name}: ${toError(thrown).message}`, { cause: thrown }));
      }
    }
    if (failures.length > 0) {
      throw new AggregateError(failures, `not closed cleanly: ${failures.map((f) => f.message).join("; ")}`);
    }
  }
}

/** The promise's value, or a rejection once `ms` have passed. The work itself is not stopped. */
export async function withDeadline<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
