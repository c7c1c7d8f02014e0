import { expect, it } from "vitest";
import type { Recording } from "../../src/health/recording.ts";
import { aRecording } from "../support/fixtures.ts";
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
    await inventory.follow();
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

  it("recordings are counted by label where they are now", async () => {
    const { inventory } = testStore().store;
    const other = testStore().replica().inventory;
    const on = (id: string, cameraServer: string) => ({ ...recording(id), cameraServer });
    await inventory.saveRecordings([on("a", "one"), on("b", "one"), on("c", "one")]);
    await other.follow();
    await inventory.saveRecordings([on("a", "two")]);
    await inventory.forget(["b"]);
    await other.follow();
    for (const names of [inventory, other]) {
      const counts = ["one", "two"].map((server) => [...names.labelled("camera_server", server)]);
      expect(counts).toEqual([[["loc", 1]], [["loc", 1]]]);
      expect([...names.recordings()].map(({ id }) => id).sort()).toEqual(["a", "c"]);
    }
  });

  it("what another replica wrote is read when asked to, and nothing where nobody wrote", async () => {
    const { inventory } = testStore().store;
    const other = testStore().replica().inventory;
    await inventory.saveRecordings([recording("a"), recording("b"), recording("c")]);
    await other.follow();
    await inventory.saveLocations([location("loc", "Leeds")]);
    await inventory.saveRecordings([recording("a", "renamed"), recording("c", "renamed")]);
    expect(other.recording("a")?.name).toBe("a");
    await other.follow();
    expect(["a", "b", "c"].map((id) => other.recording(id)?.name)).toEqual(["renamed", "b", "renamed"]);
    expect(other.location("loc")?.name).toBe("Leeds");
    await inventory.forget(["b"]);
    await other.follow();
    expect(other.recording("b")).toBeUndefined();
    await testStore().redis.hset(testStore().store.keys.recordings, "a", stored("unseen"));
    await other.follow();
    expect(other.recording("a")?.name).toBe("renamed");
  });

  it("a replica far behind, or with another Redis, reads everything again", async () => {
    const { inventory, keys } = testStore().store;
    const other = testStore().replica().inventory;
    await inventory.saveRecordings([recording("a"), recording("b")]);
    await other.follow();
    for (let i = 0; i < 220; i++) await inventory.saveRecordings([recording("a", `${i}`)]);
    await other.follow();
    expect(other.recording("a")?.name).toBe("219");
    await testStore().redis.del(keys.namesLog);
    await testStore().redis.hset(keys.recordings, "a", stored("of another Redis"));
    await testStore().redis.hdel(keys.recordings, "b");
    await other.follow();
    expect(other.recording("a")?.name).toBe("of another Redis");
    expect(other.recording("b")?.name, "a name is not lost with Redis").toBe("b");
  });

  it("a name that could not be stored is stored the next time", async () => {
    const { inventory, keys } = testStore().store;
    await testStore().redis.set(keys.recordings, "no hash");
    await inventory.saveRecordings([recording("a")]).catch(() => {});
    await testStore().redis.del(keys.recordings);
    await inventory.saveRecordings([recording("a")]);
    expect(await testStore().redis.hkeys(keys.recordings)).toEqual(["a"]);
  });

  it("a name is read as it was written, whatever is in it", async () => {
    const { store, replica } = testStore();
    const names = ["", 'Till "3", left', "back\\slash", 'a","b', "línea 🎥"];
    await store.inventory.saveRecordings(names.map((name, i) => recording(`${i}`, name)));
    const { inventory } = replica();
    await inventory.follow();
    expect(names.map((_, i) => inventory.recording(`${i}`))).toEqual(names.map((name, i) => recording(`${i}`, name)));
  });

  it("a name that another replica stored is not written again", async () => {
    const { store, redis, replica } = testStore();
    await store.inventory.saveRecordings([recording("a")]);
    await replica().inventory.saveRecordings([recording("a")]);
    expect(await redis.llen(store.keys.namesLog)).toBe(2);
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
