/** Routing, pace, and the start of an outage. */
import { expect, it } from "vitest";
import { startWatch, type Watch } from "../support/app.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const TIMERS = "group_by: [location_id], group_wait: 0s, group_interval: 1s, repeat_interval: 4h";

const RECEIVERS = ["ops", "managers", "archive"]
  .map(
    (name) => `
  - name: ${name}
    email_configs: [ { to: [ ${name}@example.com ] } ]`,
  )
  .join("");

/** Subjects of the mails, by receiver. */
function notified({ mail }: Watch, receiver: string): string[] {
  return mail.messages.filter(({ rcpts }) => rcpts.includes(`${receiver}@example.com`)).map(({ subject }) => subject);
}

function cameras({ simulator }: Watch, count: number) {
  const found = simulator.world.locations.slice(0, count).flatMap(({ recordings }) => recordings[0] ?? []);
  if (found.length < count) throw new Error("no cameras");
  return found;
}

describeWithRedis("the routing tree", () => {
  it.concurrent("continue: a matching route passes the alert on to its siblings only with continue", async () => {
    await using watch = await startWatch({
      receivers: RECEIVERS,
      route: `{ receiver: ops, ${TIMERS}, routes: [
    { matchers: [ severity = "critical" ], receiver: archive, continue: true },
    { matchers: [ alertname = "RecordingOffline" ], receiver: managers },
    { matchers: [ severity = "critical" ], receiver: ops } ] }`,
    });
    const [camera] = cameras(watch, 1);
    watch.simulator.world.setStatus(camera?.id ?? "", "offline");
    await until("both are told", () => watch.mail.messages.length === 2);
    watch.simulator.world.setStatus(camera?.id ?? "", "online");
    await until("both hear the end", () => watch.mail.messages.length === 4);
    for (const receiver of ["archive", "managers"])
      expect(notified(watch, receiver)).toEqual([
        expect.stringMatching(/^🔴 Till \d+ offline/),
        expect.stringMatching(/^✅ Till \d+ recovered/),
      ]);
    expect(notified(watch, "ops")).toEqual([]);
  });

  it.concurrent("active_time_intervals: nothing is sent outside them, and what still fires is sent within", async () => {
    // Both intervals last an hour or more, also over noon and midnight.
    const isMorning = new Date().getUTCHours() < 12;
    const hours = (from: string, to: string) => `{ start_time: "${from}", end_time: "${to}" }`;
    const elsewhere = isMorning ? hours("14:00", "23:00") : hours("02:00", "10:00");
    const here = isMorning ? hours("00:00", "14:00") : `${hours("11:00", "24:00")}, ${hours("00:00", "02:00")}`;
    await using watch = await startWatch({
      receivers: RECEIVERS,
      route: `{ receiver: ops, ${TIMERS}, routes: [ { matchers: [ alertname = "RecordingOffline" ], receiver: managers, active_time_intervals: [ shift ] } ] }`,
      more: `time_intervals: [ { name: shift, time_intervals: [ { times: [ ${elsewhere} ] } ] } ]`,
    });
    const [camera] = cameras(watch, 1);
    watch.simulator.world.setStatus(camera?.id ?? "", "offline");
    const muted = /suppressed_total\{receiver="managers",reason="muted"\} [1-9]/;
    await until("it is suppressed", async () => muted.test(await (await fetch(`${watch.app.address}/metrics`)).text()));
    expect(watch.mail.messages).toEqual([]);
    await watch.reload((config) => config.replace(elsewhere, here));
    await until("it is told", () => notified(watch, "managers").length === 1);
    expect(notified(watch, "managers")).toEqual([expect.stringMatching(/^🔴 Till \d+ offline/)]);
  });
});

describeWithRedis("the pace of a webhook", () => {
  it.concurrent("is a message a second, also for two receivers of the same one; mail does not wait for it", async () => {
    await using watch = await startWatch();
    await watch.reload((config) =>
      config
        .replace(
          "  - name: ops\n",
          `  - name: others\n    slack_configs: [ { api_url: "${watch.slack.url}" } ]\n  - name: ops\n`,
        )
        .replace(
          "repeat_interval: 4h }",
          `repeat_interval: 4h, routes: [ { receiver: others, continue: true }, { receiver: ops } ] }`,
        ),
    );
    const dark = cameras(watch, 3);
    for (const { id } of dark) watch.simulator.world.setStatus(id, "offline");
    await until("all are told", () => watch.slack.messages.length === 6);
    const times = watch.slack.messages.map(({ receivedAt }) => receivedAt);
    // Six messages take five seconds; each may arrive late, the first as well.
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(3_500);
    const third = watch.mail.messages[2]?.receivedAt ?? Number.POSITIVE_INFINITY;
    expect(third).toBeLessThan(times.at(-1) ?? 0);
    expect(watch.mail.messages).toHaveLength(3);
  });
});

describeWithRedis("the start of an outage", () => {
  it.concurrent("a recording that went offline while the service was unreachable is reported as offline since then", async () => {
    await using watch = await startWatch({ rules: RULES_WITHOUT_SERVICE });
    const { simulator, slack, app } = watch;
    const [camera] = cameras(watch, 1);
    if (!camera) throw new Error("no camera");
    let failed = 0;
    simulator.events.on("request", ({ endpoint, outcome }) => {
      if (endpoint === "status/uptime" && outcome !== "answered") failed++;
    });
    simulator.faults.set("error_payload", { endpoint: "status/uptime" });
    await until("nothing is seen", () => failed > 1);
    simulator.world.setStatus(camera.id, "offline");
    const darkAt = camera.lastSeenAt;
    const seen = failed;
    await until("nothing is seen for a while", () => failed > seen + 2);
    simulator.faults.clearAll();
    await slack.next();
    const { items } = (await (await fetch(`${app.address}/api/v1/incidents`)).json()) as {
      items: { startsAt: string }[];
    };
    expect(items.map(({ startsAt }) => Date.parse(startsAt))).toEqual([darkAt]);
  });
});

const RULES_WITHOUT_SERVICE = `
  - alert: RecordingOffline
    when: { status: offline }
    for: 0s
    labels: { severity: critical }`;
