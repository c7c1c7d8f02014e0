import { expect, it } from "vitest";
import { lenswatch } from "../commands/run-command.ts";
import { pictured, prepareWatch } from "../support/app.ts";
import { type Daemon, type LogLine, startDaemon } from "../support/daemon.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

interface Timeline {
  readonly items: readonly {
    readonly about: { readonly kind: string };
    readonly rule: string | null;
    readonly integration: string | null;
    readonly reason: string;
    readonly detail: string | null;
  }[];
}

const SLACK = "ops/slack/0";
const MAIL = "ops/email/0/ops@example.com";

const RULES = `
  - alert: RecordingOffline
    when: { status: offline }
    for: 1s
  - alert: ServiceUnreachable
    when: { service: unreachable }
    for: 1s`;

const isFirst = ({ msg, reason }: LogLine) => msg === "notified" && reason === "first";

const addressOf = async (daemon: Daemon) => String((await daemon.logged("listening")).address);

async function timeline(address: string, id: string): Promise<Timeline["items"]> {
  const answer = await fetch(`${address}/api/v1/recordings/${id}/timeline`);
  return answer.ok ? ((await answer.json()) as Timeline).items : [];
}

/** The reasons at one integration, in order. */
const along = (items: Timeline["items"], rule: string | null, integration: string | null = null) =>
  items
    .filter((item) => item.rule === rule && item.integration === integration)
    .map(({ reason, detail }) => (detail === null ? reason : `${reason} ${detail}`));

describeWithRedis("why", () => {
  it.concurrent("lists one outage line by line, with a refusal in between and over a kill -9", async () => {
    await using stage = await prepareWatch({ rules: RULES });
    const { simulator, slack, mail } = stage;
    const [camera] = simulator.world.recordings;
    if (!camera) throw new Error("no camera");
    let left = 1;
    slack.respond(() => (left-- > 0 ? { status: 503, body: "no" } : { status: 200, body: "ok" }));
    let daemon = await startDaemon(stage.config);
    let address = await addressOf(daemon);
    await pictured(stage);
    simulator.world.setStatus(camera.id, "offline");
    await until("both were told", () => daemon.log.filter(isFirst).length === 2);
    await daemon.end("SIGKILL");
    daemon = await startDaemon(stage.config);
    address = await addressOf(daemon);
    await daemon.logged("started");
    simulator.world.setStatus(camera.id, "online");
    await until("both were told its end", async () => {
      const items = await timeline(address, camera.id);
      return items.filter(({ reason }) => reason === "notified_end").length === 2;
    });

    const items = await timeline(address, camera.id);
    expect(along(items, null)).toEqual(["observed_offline", "observed_online"]);
    expect(along(items, "RecordingOffline")).toEqual(["pending 1 s", "firing", "resolved"]);
    expect(along(items, "RecordingOffline", SLACK)).toEqual([
      "failed server_error",
      "notified first",
      "notified_end recovered",
    ]);
    expect(along(items, "RecordingOffline", MAIL)).toEqual(["notified first", "notified_end recovered"]);
    expect(slack.messages).toHaveLength(3);
    expect(mail.messages).toHaveLength(2);

    const env = { LENSWATCH_READ_TOKEN: "any" };
    const said = await lenswatch(["why", camera.name, "--url", address, "--since", "1w", "--all"], env);
    expect(said).toMatchObject({ stderr: "", exitCode: 0 });
    for (const words of [
      "seen offline",
      "RecordingOffline: fires",
      `RecordingOffline: not sent to ${SLACK} yet, retrying: server error`,
      `RecordingOffline: notified ${MAIL}`,
      `RecordingOffline: notified ${SLACK} of its end: recovered`,
    ]) {
      expect(said.stdout).toContain(words);
    }
    await daemon.end("SIGTERM");
  });
});
