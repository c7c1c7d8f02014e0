/** Messages received by a sink, with ways to wait for more. */

export interface Inbox<Message> {
  /** Everything so far, oldest first. */
  readonly messages: readonly Message[];
  /** The oldest message not yet taken with `next`; waits up to 150 s. */
  next(timeoutMs?: number): Promise<Message>;
  /** The first message, old or new, that `wanted` accepts; waits up to 150 s. */
  waitFor(wanted: (message: Message) => boolean, timeoutMs?: number): Promise<Message>;
}

const PATIENCE_MS = 150_000;

/** `what` names a message in the error of a timeout. */
export function createInbox<Message>(what: string): Inbox<Message> & { push(message: Message): void; end(): void } {
  const messages: Message[] = [];
  const waiting = new Set<{ look(): void; fail(why: string): void }>();
  let taken = 0;

  function wait(find: () => Message | undefined, timeoutMs: number): Promise<Message> {
    const found = find();
    if (found !== undefined) return Promise.resolve(found);
    const { promise, resolve, reject } = Promise.withResolvers<Message>();
    const waiter = {
      look() {
        const message = find();
        if (message !== undefined) done(() => resolve(message));
      },
      fail(why: string) {
        done(() => reject(new Error(`no ${what}: ${why}; ${messages.length} came in all`)));
      },
    };
    const timer = setTimeout(() => waiter.fail(`none within ${timeoutMs} ms`), timeoutMs);
    function done(settle: () => void): void {
      clearTimeout(timer);
      waiting.delete(waiter);
      settle();
    }
    waiting.add(waiter);
    return promise;
  }

  return {
    messages,
    next: (timeoutMs = PATIENCE_MS) => wait(() => (taken < messages.length ? messages[taken++] : undefined), timeoutMs),
    waitFor: (wanted, timeoutMs = PATIENCE_MS) => wait(() => messages.find(wanted), timeoutMs),
    push(message) {
      messages.push(message);
      for (const waiter of [...waiting]) waiter.look();
    },
    end() {
      for (const waiter of [...waiting]) waiter.fail("the sink was closed");
    },
  };
}
