import { Readable } from "node:stream";
import { expect, test } from "vitest";
import type { HttpClient } from "../../src/lib/http-client.ts";
import { createHeartbeatCall } from "../../src/notify/heartbeat.ts";

const url = "https://hc.example.com/ping/sesame";
const never = new AbortController().signal;

const clientOf = (send: HttpClient["send"]): HttpClient => ({ send, close: async () => {} });

const answering = (status: number) =>
  createHeartbeatCall({ url, client: clientOf(async () => ({ status, body: Readable.from([]), discard() {} })) });

test.each([
  [200, undefined],
  [204, undefined],
  [301, "it answered 301, and redirects are not followed"],
  [404, "it answered 404"],
  [503, "it answered 503"],
])("an answer of %i counts as %j", async (status, why) => {
  expect(await answering(status).call(never)).toBe(why);
});

test("a failed connection is shown by its code, never by its message", async () => {
  const cause = Object.assign(new Error(`getaddrinfo ENOTFOUND ${url}`), { code: "ENOTFOUND" });
  const failing = createHeartbeatCall({
    url,
    client: clientOf(() => Promise.reject(new TypeError(`fetch failed for ${url}`, { cause }))),
  });
  expect(await failing.call(never)).toBe("it could not be reached (ENOTFOUND)");
});

test("a call that gets no answer ends at its timeout, and when lenswatch stops", async () => {
  const hanging = createHeartbeatCall({ url, timeoutMs: 20, client: clientOf(neverAnswers) });
  expect(await hanging.call(never)).toBe("it did not answer in time");
  const stopping = new AbortController();
  const call = createHeartbeatCall({ url, timeoutMs: 60_000, client: clientOf(neverAnswers) }).call(stopping.signal);
  stopping.abort();
  expect(await call).toBe("the call was cancelled");
});

const neverAnswers = (_: unknown, signal: AbortSignal) =>
  new Promise<never>((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
