/**
 * Teardown, registered on the line after construction: named steps, run in reverse order and once, each with its own
 * deadline. A failed step does not stop the others.
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

  /** Registers a step; the next one starts after `deadlineMs` at most. */
  add(name: string, close: () => unknown, deadlineMs = 2_000): void {
    this.#steps.push({ name, close, deadlineMs });
  }

  /** Throws an AggregateError that names the steps that failed or exceeded their deadline. */
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

/** The promise's value, or a rejection after `ms`. The work itself is not stopped. */
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
