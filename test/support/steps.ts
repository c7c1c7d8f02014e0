/** The result of a generator that yields to the event loop, at once. */
export function drained<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
