import { expect, it } from "vitest";
import { locationRule, MINUTE, offlineRule, Story } from "./shard-history.ts";

/** Two cameras at the location in question, and enough elsewhere for what is missing there to be believed. */
function story() {
  const told = new Story(offlineRule({ forMs: 2 * MINUTE }), locationRule({ forMs: 2 * MINUTE }));
  told.locationIds = ["L1", "there"];
  const there = Object.fromEntries(
    Array.from({ length: 50 }, (_, i) => [`x${i}`, { locationId: "there", status: "online" as const }]),
  );
  return { told, sweep: (a: "offline" | "unknown", b: "offline" | "unknown") => told.sweep({ a, b, ...there }), there };
}

function firing() {
  const { told, sweep, there } = story();
  for (let i = 0; i < 30; i++) sweep("offline", "offline");
  expect(told.state.locations.get("L1")?.alerts).toBeDefined();
  return { told, sweep, there, readAt: told.now };
}

it("a location with an alert was read when one of its recordings was read last", () => {
  const { told, sweep, readAt } = firing();
  sweep("unknown", "offline");
  expect(told.last.unread.has("L1")).toBe(false);
  const lastAt = told.now;
  expect(lastAt).toBeGreaterThan(readAt);
  for (let i = 0; i < 5; i++) sweep("unknown", "unknown");
  expect(told.last.unread.get("L1")).toBe(lastAt);
  expect(told.last.unread.has("there")).toBe(false);
});

it("an answer that lacks all recordings of a location has read it", () => {
  const { told, there } = firing();
  told.sweep(there);
  expect(told.last.unread.has("L1")).toBe(false);
});
