import { expect, it } from "vitest";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";
import { startWatch } from "../support/watch.ts";

describeWithRedis("the status page of a running lenswatch", () => {
  it.concurrent("shows a camera that is told to be dark, and its incident once it is back", async () => {
    await using watch = await startWatch();
    const { simulator, slack, app } = watch;
    const [camera] = simulator.world.recordings;
    if (!camera) throw new Error("no camera");
    const read = async (path: string) => (await fetch(app.address + path)).text();
    const paths = ["/", `/?location=${camera.location.id}`, `/recordings/${camera.id}`];

    simulator.world.setStatus(camera.id, "offline");
    await slack.next();
    await until("the page shows it", async () =>
      (await read("/")).includes("<h1>1 of 8 recordings is offline"),
    );
    for (const path of paths) expect(await read(path), path).toContain(camera.name);
    expect(await read(`/recordings/${camera.id}`)).toContain("firing, this recording");

    simulator.world.setStatus(camera.id, "online");
    await slack.next();
    await until("the page shows that it is back", async () =>
      (await read("/")).includes("<h1>All 8 recordings are online, no alert fires."),
    );
    expect(await read(`/recordings/${camera.id}`)).toMatch(/RecordingOffline<\/th>.*recovered<\/td>/s);
  });

  it.concurrent("says that it is blind when the service is, and not that all is well", async () => {
    await using watch = await startWatch();
    const { simulator, app } = watch;
    const read = async (path: string) => (await fetch(app.address + path)).text();
    await until("all are online", async () => (await read("/")).includes("All 8 recordings are online"));
    simulator.faults.set("half_open");
    await until("it says so", async () =>
      (await read("/")).includes("lenswatch is blind: the status of all 8"),
    );
    expect(await read(`/recordings/${simulator.world.recordings[0]?.id}`)).toContain("was online at");
  });

  it.concurrent("says that nothing is known while Redis is gone", async () => {
    await using watch = await startWatch();
    await watch.redis.stop();
    const response = await fetch(`${watch.app.address}/`);
    expect(response.status).toBe(503);
    expect(await response.text()).toContain("How it is cannot be told now");
  });
});
