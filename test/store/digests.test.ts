import { expect, it } from "vitest";
import { describeWithRedis } from "../support/redis.ts";
import { digests, HOUR, T0, useTestStore } from "./fixtures.ts";

describeWithRedis("digests", () => {
  const testStore = useTestStore();

  const day = { from: T0 - 24 * HOUR, to: T0 };
  const week = { from: T0 - 168 * HOUR, to: T0 };

  it("the recipients of a digest are stored for as long as asked, for that period alone", async () => {
    const { keys } = testStore().store;
    await digests.accept("daily", day, "a@example.com", T0 + HOUR, 3_600);
    expect(await digests.accepted("daily", day)).toEqual(new Set(["a@example.com"]));
    expect(await digests.accepted("daily", { from: T0, to: T0 + 24 * HOUR })).toEqual(new Set());
    expect(await digests.accepted("daily", week)).toEqual(new Set());
    expect(await digests.accepted("weekly", day)).toEqual(new Set());
    expect(await testStore().redis.ttl(keys.digest("daily", T0))).toBeGreaterThan(3_590);
  });

  it("is sent to one recipient by one replica at a time, and by another when that one has stopped", async () => {
    const { keys } = testStore().store;
    const claim = (to: string) => digests.claim("daily", day, to, 60_000);
    const both = await Promise.all([claim("a@example.com"), claim("a@example.com")]);
    expect(both.sort()).toEqual([false, true]);
    expect(await claim("b@example.com")).toBe(true);
    expect(await digests.claim("daily", week, "a@example.com", 60_000)).toBe(true);
    expect(await testStore().redis.pttl(keys.digestClaim("daily", day, "a@example.com"))).toBeGreaterThan(50_000);
    await digests.release("daily", day, "a@example.com");
    expect(await claim("a@example.com")).toBe(true);
  });

  it("when each is due is kept until it is configured no more", async () => {
    await digests.reschedule("daily", { spec: "0 8 * * * UTC", dueAt: T0 });
    await digests.reschedule("daily", { spec: "0 8 * * * UTC", dueAt: T0 + HOUR });
    expect(await digests.schedule()).toEqual(new Map([["daily", { spec: "0 8 * * * UTC", dueAt: T0 + HOUR }]]));
    await digests.unschedule("daily");
    expect(await testStore().keys()).toEqual([]);
  });
});
