/** The behaviour of every channel, run by each channel's own test file. */

import { inspect } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import type { NotifyErrorCode, NotifyErrorScope } from "../../src/alerting/model.ts";
import { createLogger, type Logger } from "../../src/lib/log.ts";
import { type Notifier, NotifyError } from "../../src/notify/notifier.ts";
import { alertOf, notificationOf } from "./fixtures.ts";

/** A channel with its own endpoint, which can be made to fail. */
export interface Rig {
  readonly notifier: Notifier;
  /** How many messages the endpoint has accepted. */
  accepted(): number;
  /** Everything that must never be seen in an error or a log. */
  readonly secrets: readonly string[];
  hang(): void;
  /** Nothing listens at the endpoint any more. */
  vanish(): Promise<void>;
  close(): Promise<void>;
}

export interface Fault<R extends Rig> {
  /** What the endpoint does, as the end of "when …". */
  readonly when: string;
  arrange(rig: R): void;
  readonly code: NotifyErrorCode;
  readonly retryable: boolean;
  readonly scope: NotifyErrorScope;
}

export interface RigOptions {
  readonly timeoutMs: number;
  readonly log: Logger;
}

const LONG = 60_000;

export function describeChannel<R extends Rig>(
  name: string,
  start: (options: RigOptions) => Promise<R>,
  faults: readonly Fault<R>[],
): void {
  describe(`${name}, as every channel`, () => {
    const rigs: R[] = [];
    const lines: string[] = [];
    const log = createLogger({
      level: "trace",
      destination: { write: (line: string) => lines.push(line) } as unknown as NodeJS.WritableStream,
    });

    async function rig(timeoutMs = LONG): Promise<R> {
      const made = await start({ timeoutMs, log });
      rigs.push(made);
      return made;
    }

    /** The error of a send that must fail; checked for leaks whatever it is. */
    async function failure(of: R, signal: AbortSignal = new AbortController().signal): Promise<NotifyError> {
      const error: unknown = await of.notifier.send(NOTIFICATION, { signal }).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      log.error({ err: error }, "notification failed");
      const seen = inspect(error, { depth: 20, showHidden: true }) + JSON.stringify(error) + lines.join("");
      for (const secret of of.secrets) expect(seen).not.toContain(secret);
      expect(error).toBeInstanceOf(NotifyError);
      return error as NotifyError;
    }

    afterEach(async () => {
      for (const made of rigs.splice(0)) await made.close();
      lines.length = 0;
    });

    it("delivers a message once and resolves", async () => {
      const { notifier, accepted } = await rig();
      await notifier.send(NOTIFICATION, { signal: new AbortController().signal });
      expect(accepted()).toBe(1);
    });

    it("delivers the plain form as well", async () => {
      const { notifier, accepted } = await rig();
      await notifier.send(NOTIFICATION, { signal: new AbortController().signal, plain: true });
      expect(accepted()).toBe(1);
    });

    for (const { when, arrange, ...expected } of faults) {
      it(`throws ${expected.code} (${expected.scope}), without a secret, when ${when}`, async () => {
        const made = await rig();
        arrange(made);
        expect(await failure(made)).toMatchObject(expected);
      });
    }

    it("throws network when nothing listens", async () => {
      const made = await rig();
      await made.vanish();
      expect(await failure(made)).toMatchObject({ code: "network", retryable: true, scope: "endpoint" });
    });

    it("times out at its own deadline when the endpoint never answers", async () => {
      const made = await rig(150);
      made.hang();
      expect(await failure(made)).toMatchObject({ code: "timeout", retryable: true, scope: "endpoint" });
    });

    it("obeys the caller's deadline when it is the earlier one", async () => {
      const made = await rig();
      made.hang();
      expect(await failure(made, AbortSignal.timeout(100))).toMatchObject({ code: "timeout" });
    });

    it("stops at once when it is cancelled, as an error of the message", async () => {
      const made = await rig();
      made.hang();
      const cancel = new AbortController();
      const failed = failure(made, cancel.signal);
      setImmediate(() => cancel.abort());
      expect(await failed).toMatchObject({ code: "other", retryable: true, scope: "message" });
    });

    it("sends nothing when it was cancelled beforehand", async () => {
      const made = await rig();
      expect(await failure(made, AbortSignal.abort())).toMatchObject({ code: "other", scope: "message" });
      await made.notifier.send(NOTIFICATION, { signal: new AbortController().signal });
      expect(made.accepted()).toBe(1);
    });

    it("closes within its bound while an endpoint hangs, as often as it is asked", async () => {
      const made = await rig(1_000);
      made.hang();
      const failed = failure(made);
      const began = performance.now();
      await made.notifier.close();
      await made.notifier.close();
      expect(performance.now() - began).toBeLessThan(10_000);
      await failed;
    });
  });
}

const NOTIFICATION = notificationOf({ firing: [alertOf("Till 3")] });
