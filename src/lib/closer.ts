/** Teardown steps, run in reverse order and once, each with a deadline; a failed step does not stop the others. */
import { toError } from "./errors.ts";

export class Closer {
  readonly #steps: { name: string; close: () => unknown; deadlineMs: number }[] = [];
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

/** The promise's value, or the error `late` after `ms`. The work itself is not stopped. */
export function withDeadline<T>(
  work: Promise<T>,
  ms: number,
  late = () => new Error(`not done within ${ms} ms`),
): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(late()), ms);
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}
