import { expect, it } from "vitest";
import { parseRetryAfter } from "../../src/lib/backoff.ts";

const now = Date.UTC(2026, 0, 1, 12);

it.each([
  ["7", 7_000],
  ["0", 0],
  ["Thu, 01 Jan 2026 12:00:30 GMT", 30_000],
  ["Thu, 01 Jan 2026 11:00:00 GMT", 0],
  ["99999999999", 86_400_000],
  ["9999999999", 86_400_000],
  ["1.5", 1_500],
  ["-3", undefined],
  ["March 7", undefined],
  ["soon", undefined],
  ["", undefined],
  [undefined, undefined],
])("Retry-After %j is %s ms", (header, ms) => {
  expect(parseRetryAfter(header, now)).toBe(ms);
});
