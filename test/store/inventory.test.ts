import { expect, it } from "vitest";
import type { Recording } from "../../src/health/recording.ts";
import { describeWithRedis } from "../support/redis.ts";
import { useRoom } from "./room.ts";

const recording = (id: string, name = id): Recording => ({
  id,
  name,
  organisation: "org",
  cameraServer: "server",
  locationId: "loc",
  useUploadingSchedule: false,
  timezone: "Europe/London",
});
const location = (id: string, name?: string) => ({ id, name, timezone: undefined });

describeWithRedis("names", () => {
  const room = useRoom();

  it("are kept for the next start", async () => {
    await room().store.inventory.saveRecordings([recording("a", "<!channel>"), recording("b")]);
    await room().store.inventory.saveLocations([location("loc", "Leeds")]);
    const { inventory } = room().replica();
    expect(inventory.recording("a")).toBeUndefined();
    await inventory.load();
    expect(inventory.recording("a")).toEqual(recording("a", "<!channel>"));
    expect(inventory.location("loc")?.name).toBe("Leeds");
    expect([...inventory.locationIds()]).toEqual(["loc"]);
  });

  it("a name that changed is written again, one that did not is not", async () => {
    const { inventory, keys } = room().store;
    await inventory.saveRecordings([recording("a"), recording("b")]);
    await room().redis.del(keys.recordings);
    await inventory.saveRecordings([recording("a"), recording("b", "renamed")]);
    expect(await room().redis.hkeys(keys.recordings)).toEqual(["b"]);
    expect(inventory.recording("b")?.name).toBe("renamed");
  });

  it("locations another replica listed are read when asked to", async () => {
    const other = room().replica();
    await other.inventory.saveLocations([location("loc", "Leeds")]);
    await room().store.inventory.loadLocations();
    expect(room().store.inventory.location("loc")?.name).toBe("Leeds");
  });

  it("who left the fleet is forgotten, here and in Redis", async () => {
    const { inventory, keys } = room().store;
    await inventory.saveRecordings([recording("a"), recording("b")]);
    await inventory.forget(["a"]);
    await inventory.forget([]);
    expect(inventory.recording("a")).toBeUndefined();
    expect(await room().redis.hkeys(keys.recordings)).toEqual(["b"]);
  });
});
