import { expect, test } from "vitest";
import { createHeartbeatCall } from "../../src/notify/heartbeat.ts";

const url = "https://hc.example.com/ping/sesame";
const never = new AbortController().signal;

const answering = (status: number) =>
  createHeartbeatCall({ url, fetch: async () => ({ status, headers: { get: () => null }, body: null }) });

test.each([
  [200, undefined],
  [204, undefined],
  [301, "it answered 301, and redirects are not followed"],
  [404, "it answered 404"],
  [503, "it answered 503"],
])("an answer of %i counts as %j", async (status, why) => {
  expect(await answering(status).call(never)).toBe(why);
});

test("what cannot be reached is told by its code, never by its message", async () => {
  const cause = Object.assign(new Error(`getaddrinfo ENOTFOUND ${url}`), { code: "ENOTFOUND" });
  const failing = createHeartbeatCall({
    url,
    fetch: async () => Promise.reject(new TypeError(`fetch failed for ${url}`, { cause })),
  });
  expect(await failing.call(never)).toBe("it could not be reached (ENOTFOUND)");
});

test("a switch that never answers is given up at its time-out, and when lenswatch stops", async () => {
  const hanging = createHeartbeatCall({
    url,
    timeoutMs: 20,
    fetch: neverAnswers,
  });
  expect(await hanging.call(never)).toBe("it did not answer in time");
  const stopping = new AbortController();
  const call = createHeartbeatCall({ url, timeoutMs: 60_000, fetch: neverAnswers }).call(stopping.signal);
  stopping.abort();
  expect(await call).toBe("the call was given up");
});

const neverAnswers = (_: string, { signal }: { signal: AbortSignal }) =>
  new Promise<never>((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
