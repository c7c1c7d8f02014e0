import { expect, it, vi } from "vitest";
import type { Recording } from "../../src/health/recording.ts";
import { aRecording, aRecordingState } from "../support/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";
import { useTestStore } from "./fixtures.ts";

const recording = (id: string, name = id): Recording => aRecording(id, { name, locationId: "loc" });
const location = (id: string, name?: string) => ({ id, name, timezone: undefined });

/** As it is in Redis. */
const stored = (name: string) => JSON.stringify([name, "", "", "", false, "UTC"]);

describeWithRedis("names", () => {
  const testStore = useTestStore();

  it("are kept for the next start", async () => {
    const scheduled = { ...recording("b"), useUploadingSchedule: true };
    await testStore().store.inventory.saveRecordings([recording("a", "<!channel>"), scheduled]);
    await testStore().store.inventory.saveLocations([location("loc", "Leeds")]);
    const { inventory } = testStore().replica();
    expect(inventory.recording("a")).toBeUndefined();
    await inventory.loadLocations();
    await inventory.know(["a", "b", "unknown"]);
    expect(inventory.recording("a")).toEqual(recording("a", "<!channel>"));
    expect(inventory.recording("b")).toEqual(scheduled);
    expect(inventory.location("loc")?.name).toBe("Leeds");
    expect([...inventory.locationIds()]).toEqual(["loc"]);
  });

  it("a name that changed is written again, one that did not is not", async () => {
    const { inventory, keys } = testStore().store;
    await inventory.saveRecordings([recording("a"), recording("b")]);
    await testStore().redis.del(keys.recordings);
    await inventory.saveRecordings([recording("a"), recording("b", "renamed")]);
    expect(await testStore().redis.hkeys(keys.recordings)).toEqual(["b"]);
    expect(inventory.recording("b")?.name).toBe("renamed");
  });

  it("locations another replica listed are read when asked to", async () => {
    const other = testStore().replica();
    await other.inventory.saveLocations([location("loc", "Leeds")]);
    await testStore().store.inventory.loadLocations();
    expect(testStore().store.inventory.location("loc")?.name).toBe("Leeds");
  });

  it("what another replica wrote is read when asked to, and nothing where nobody wrote", async () => {
    const { inventory } = testStore().store;
    const other = testStore().replica().inventory;
    await inventory.saveRecordings([recording("a"), recording("b"), recording("c")]);
    await other.know(["a", "b"]);
    await inventory.saveLocations([location("loc", "Leeds")]);
    await inventory.saveRecordings([recording("a", "renamed"), recording("c", "renamed")]);
    expect(other.recording("a")?.name).toBe("a");
    await other.follow();
    expect([other.recording("a")?.name, other.recording("b")?.name]).toEqual(["renamed", "b"]);
    expect(other.recording("c"), "nobody asked for it there").toBeUndefined();
    expect(other.location("loc")?.name).toBe("Leeds");
    await inventory.forget(["b"]);
    await other.follow();
    expect(other.recording("b")).toBeUndefined();
    await testStore().redis.hset(testStore().store.keys.recordings, "a", stored("unseen"));
    await other.follow();
    expect(other.recording("a")?.name).toBe("renamed");
  });

  it("a replica far behind, or with another Redis, reads again what it has", async () => {
    const { inventory, keys } = testStore().store;
    const other = testStore().replica().inventory;
    await inventory.saveRecordings([recording("a"), recording("b")]);
    await other.know(["a", "b"]);
    for (let i = 0; i < 120; i++) await inventory.saveRecordings([recording("a", `${i}`)]);
    await other.follow();
    expect(other.recording("a")?.name).toBe("119");
    expect(await testStore().redis.llen(keys.namesLog)).toBe(100);
    await testStore().redis.del(keys.namesRevision, keys.namesLog);
    await testStore().redis.hset(keys.recordings, "a", stored("of another Redis"));
    await testStore().redis.hdel(keys.recordings, "b");
    await other.follow();
    expect(other.recording("a")?.name).toBe("of another Redis");
    expect(other.recording("b")?.name, "a name is not lost with Redis").toBe("b");
  });

  it("a name that nobody asks for leaves memory, one that was asked for does not", async () => {
    const now = vi.spyOn(performance, "now").mockReturnValue(0);
    const { inventory } = testStore().replica();
    await testStore().store.inventory.saveRecordings([recording("a"), recording("b"), recording("c")]);
    const shard = { sweptAt: 1, recordings: new Map([["c", aRecordingState("c")]]) };
    await inventory.know(["a", "b"]);
    await inventory.knowShards([shard]);
    await testStore().redis.del(testStore().store.keys.recordings);
    for (const minute of [6, 12]) {
      now.mockReturnValue(minute * 60_000);
      await inventory.know(["a"]);
      await inventory.knowShards([shard]);
      expect(inventory.recording("b") === undefined, `after ${minute} minutes`).toBe(minute === 12);
    }
    expect([inventory.recording("a")?.name, inventory.recording("c")?.name]).toEqual(["a", "c"]);
    now.mockRestore();
  });

  it("of each location one name is read where no more is asked for, and the others once they are", async () => {
    const { store, replica } = testStore();
    const all = ["a", "b", "c", "gone"];
    await store.inventory.saveRecordings(all.map((id) => recording(id)));
    const at = (id: string, locationId: string, absentSince?: number) =>
      [id, aRecordingState(id, { locationId, absentSince })] as const;
    const shard = {
      sweptAt: 1,
      recordings: new Map([at("a", "L1"), at("b", "L2"), at("c", "L1"), at("gone", "L1", 0)]),
    };
    const { inventory } = replica();
    const known = () => all.filter((id) => inventory.recording(id));
    await inventory.knowShards([shard], "one");
    expect(known(), "one that may have moved is asked for").toEqual(["a", "b", "gone"]);
    await inventory.knowShards([shard]);
    expect(known()).toEqual(all);
  });

  it("a name that was asked for before another replica stored it is read once it is", async () => {
    const { inventory } = testStore().store;
    const other = testStore().replica().inventory;
    await inventory.know(["b"]);
    const states = new Map([["a", aRecordingState("a", { locationId: "loc" })]]);
    const shard = { sweptAt: 0, recordings: states };
    await inventory.knowShards([shard]);
    await other.saveRecordings([recording("a"), recording("c")]);
    await inventory.follow();
    await inventory.knowShards([shard]);
    expect(["a", "b", "c"].map((id) => inventory.recording(id)?.name)).toEqual(["a", undefined, undefined]);
    for (let i = 0; i < 101; i++) await other.saveRecordings([recording("b", `b${i}`)]);
    await inventory.follow();
    expect(inventory.recording("b")?.name, "far behind").toBe("b100");
  });

  it("a name is read as it was written, whatever is in it", async () => {
    const { store, replica } = testStore();
    const names = ["", 'Till "3", left', "back\\slash", 'a","b', "línea 🎥"];
    await store.inventory.saveRecordings(names.map((name, i) => recording(`${i}`, name)));
    const { inventory } = replica();
    await inventory.know(names.keys().map(String));
    expect(names.map((_, i) => inventory.recording(`${i}`))).toEqual(names.map((name, i) => recording(`${i}`, name)));
  });

  it("a name that another replica stored is not written again", async () => {
    const { store, redis, replica } = testStore();
    await store.inventory.saveRecordings([recording("a")]);
    await replica().inventory.saveRecordings([recording("a")]);
    expect(await redis.get(store.keys.namesRevision)).toBe("1");
  });

  it("a recording that left the fleet is deleted, in memory and in Redis", async () => {
    const { inventory, keys } = testStore().store;
    await inventory.saveRecordings([recording("a"), recording("b")]);
    await inventory.forget(["a"]);
    await inventory.forget([]);
    expect(inventory.recording("a")).toBeUndefined();
    expect(await testStore().redis.hkeys(keys.recordings)).toEqual(["b"]);
  });
});
