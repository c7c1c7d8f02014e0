import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { startWatch } from "../support/app.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;

describeWithRedis("an alert, end to end", () => {
  it.concurrent("notifies of a recording going offline and of its recovery, once on Slack and once by e-mail each", async () => {
    await using watch = await startWatch({ placeNames: true });
    const { simulator, slack, mail } = watch;
    const [camera] = simulator.world.recordings;
    if (!camera) throw new Error("no camera");
    simulator.world.setStatus(camera.id, "offline");
    const title = `🔴 ${camera.name.slice(camera.location.name.length + 1)} offline · ${camera.location.name}`;
    expect((await slack.next()).text.split("\n")[0]).toBe(title);
    expect((await mail.next()).subject).toBe(title);
    simulator.world.setStatus(camera.id, "online");
    expect((await slack.next()).text).toContain("✅");
    expect((await mail.next()).subject).toContain("✅");
    expect(slack.messages).toHaveLength(2);
    expect(mail.messages).toHaveLength(2);
    expect(mail.messages[0]?.rcpts).toEqual(["ops@example.com"]);
    expect(mail.messages[1]?.headers.references).toBe(mail.messages[0]?.headers["message-id"]);
  });

  it.concurrent("exposes the recording on /metrics by name, and reports ready", async () => {
    await using watch = await startWatch();
    const [camera] = watch.simulator.world.recordings;
    if (!camera) throw new Error("no camera");
    watch.simulator.world.setStatus(camera.id, "offline");
    await watch.slack.next();
    let metrics = "";
    const labels = `recording_id="${camera.id}",recording="${camera.name}",location_id="${camera.location.id}",location="${camera.location.name}"`;
    await until("it is exposed", async () => {
      metrics = await (await fetch(`${watch.app.address}/metrics`)).text();
      return metrics.includes(`lenswatch_recording_online{${labels}} 0`);
    });
    expect(metrics).toContain('lenswatch_recordings{status="offline"} 1');
    expect(metrics).toContain('lenswatch_recordings{status="online"} 7');
    expect(metrics).toContain('lenswatch_alerts{alertname="RecordingOffline",severity="critical",state="firing"} 1');
    await until("the summary of the cold start and the message are counted", async () =>
      (await (await fetch(`${watch.app.address}/metrics`)).text()).includes(
        'lenswatch_notifications_total{receiver="ops",integration="slack"} 2',
      ),
    );
    expect((await fetch(`${watch.app.address}/readyz`)).status).toBe(200);
  });

  it.skipIf(!hasPromtool)(
    `promtool accepts /metrics${hasPromtool ? "" : " (skipped: promtool is not installed)"}`,
    async () => {
      await using watch = await startWatch();
      const [camera] = watch.simulator.world.recordings;
      watch.simulator.world.rename(camera?.id ?? "", 'a "b"\\\nc <!channel>');
      watch.simulator.world.setStatus(camera?.id ?? "", "offline");
      await watch.slack.next();
      const metrics = await (await fetch(`${watch.app.address}/metrics`)).text();
      const { status, stdout, stderr } = spawnSync("promtool", ["check", "metrics"], {
        input: metrics,
        encoding: "utf8",
      });
      expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: "", stderr: "" });
    },
  );
});
