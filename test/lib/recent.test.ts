import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createRecent } from "../../src/lib/recent.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("what was not used for so long is dropped, within as long again; what is used stays", () => {
  const recent = createRecent<string, number>(1_000);
  recent.set("used", 1);
  recent.set("left", 2);
  for (let i = 0; i < 3; i++) {
    vi.advanceTimersByTime(700);
    expect(recent.get("used")).toBe(1);
  }
  expect(recent.get("left")).toBeUndefined();
  vi.advanceTimersByTime(2_001);
  expect(vi.getTimerCount()).toBe(0);
  expect(recent.get("used")).toBeUndefined();
  recent.set("used", 3);
  expect(recent.get("used")).toBe(3);
  recent.delete("used");
  expect(recent.get("used")).toBeUndefined();
});
