import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { pictured, prepareWatch, startWatch, type Watch } from "../support/app.ts";
import { startDaemon } from "../support/daemon.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

function cameras(watch: Pick<Watch, "simulator">) {
  const [first, second] = watch.simulator.world.locations.map(({ recordings }) => recordings[0]);
  if (!first || !second) throw new Error("no cameras");
  return [first, second] as const;
}

/** An outage of another recording, notified by all: everything due before it has been sent. */
async function tellsAnother(watch: Watch): Promise<void> {
  const [, other] = cameras(watch);
  watch.simulator.world.setStatus(other.id, "offline");
  await watch.slack.waitFor(({ shown }) => shown.includes(other.name));
}

const quiet = (slack: string) => `
  - name: ops
    slack_configs: [ { api_url: "${slack}" } ]`;

describeWithRedis("a reload", () => {
  it.concurrent("with another label on a rule sends no repetition, and the end once", async () => {
    await using watch = await startWatch();
    const [camera] = cameras(watch);
    watch.simulator.world.setStatus(camera.id, "offline");
    await watch.slack.next();
    await watch.reload((config) => config.replace("severity: critical", "severity: page, team: cameras"));
    await tellsAnother(watch);
    expect(watch.slack.messages).toHaveLength(2);
    watch.simulator.world.setStatus(camera.id, "online");
    await watch.slack.waitFor(({ text }) => text.startsWith("✅"));
    expect(watch.slack.messages).toHaveLength(3);
  });

  it.concurrent("with another group_by sends no repetition, and the end once", async () => {
    await using watch = await startWatch();
    const [camera] = cameras(watch);
    watch.simulator.world.setStatus(camera.id, "offline");
    await watch.slack.next();
    await watch.reload((config) => config.replace("group_by: [location_id]", "group_by: [alertname, recording_id]"));
    await tellsAnother(watch);
    watch.simulator.world.setStatus(camera.id, "online");
    await watch.slack.waitFor(({ text }) => text.startsWith("✅"));
    expect(watch.slack.messages.filter(({ shown }) => shown.includes(camera.name))).toHaveLength(2);
    expect(watch.slack.messages).toHaveLength(3);
  });

  it.concurrent("keeps the timers: a reminder is sent when it was due", async () => {
    await using watch = await startWatch({
      route: "{ receiver: ops, group_by: [location_id], group_wait: 0s, group_interval: 1s, repeat_interval: 4s }",
    });
    const [camera] = cameras(watch);
    watch.simulator.world.setStatus(camera.id, "offline");
    const first = await watch.slack.next();
    await watch.reload((config) => config.replace("status_interval: 1s", "status_interval: 1s, forget_after: 12h"));
    const reminder = await watch.slack.next();
    expect(reminder.shown).toContain(camera.name);
    expect(reminder.receivedAt - first.receivedAt).toBeGreaterThan(3_500);
  });

  it.concurrent("without a rule resolves its alerts, with the reason", async () => {
    await using watch = await startWatch();
    const [camera] = cameras(watch);
    watch.simulator.world.setStatus(camera.id, "offline");
    await watch.slack.next();
    await watch.reload((config) =>
      config.replace(/ {2}- alert: RecordingOffline[\s\S]*?(?= {2}- alert: ServiceUnreachable)/, ""),
    );
    const end = await watch.slack.next();
    expect(end.shown).toContain(camera.name);
    expect(end.shown).toContain("rule removed");
    expect(end.text).not.toContain("✅");
  });

  it.concurrent("without an integration: it first sends the resolved notifications it owes, as not sent there any more", async () => {
    await using watch = await startWatch();
    const [camera] = cameras(watch);
    watch.simulator.world.setStatus(camera.id, "offline");
    await Promise.all([watch.slack.next(), watch.mail.next()]);
    await until("both were written down, after the summary of the start", async () => {
      const metrics = await (await fetch(`${watch.app.address}/metrics`)).text();
      return /notifications_total\{receiver="ops",integration="email"\} 2/.test(metrics);
    });
    await watch.reload((config) =>
      config.replace(/\nreceivers:[\s\S]*?\nsmtp:/, `\nreceivers: ${quiet(watch.slack.url)}\nsmtp:`),
    );
    const end = await watch.mail.next();
    expect(end.text).toContain(camera.name);
    expect(end.text).toContain("not sent here any more");
    expect(end.subject).not.toContain("✅");
    watch.simulator.world.setStatus(camera.id, "online");
    await watch.slack.waitFor(({ text }) => text.startsWith("✅"));
    expect(watch.slack.messages).toHaveLength(2);
    expect(watch.mail.messages).toHaveLength(2);
  });

  it.concurrent("without a failing integration: configured again, it gets only what it has not accepted", async () => {
    await using watch = await startWatch();
    const [camera] = cameras(watch);
    watch.simulator.world.setStatus(camera.id, "offline");
    await Promise.all([watch.slack.next(), watch.mail.next()]);
    await until("both were written down, after the summary of the start", async () => {
      const metrics = await (await fetch(`${watch.app.address}/metrics`)).text();
      return /notifications_total\{receiver="ops",integration="email"\} 2/.test(metrics);
    });
    watch.mail.respond({ data: { code: 451, message: "later" } });
    const { config } = watch;
    await watch.reload((text) =>
      text.replace(/\nreceivers:[\s\S]*?\nsmtp:/, `\nreceivers: ${quiet(watch.slack.url)}\nsmtp:`),
    );
    await until("the farewell was refused", async () => {
      const metrics = await (await fetch(`${watch.app.address}/metrics`)).text();
      return /failed_total\{receiver="ops",integration="email",reason="server_error"\} [1-9]/.test(metrics);
    });
    await watch.reload(() => config);
    watch.mail.respond({});
    watch.simulator.world.setStatus(camera.id, "online");
    expect((await watch.mail.next()).subject).toContain("✅");
    expect(watch.mail.messages).toHaveLength(2);
  });

  it.concurrent("during a send: the message is sent once, by the old integration, and its end by the new one", async () => {
    await using watch = await startWatch();
    const [camera] = cameras(watch);
    const suppressed = Promise.withResolvers<{ status: number; body: string }>();
    watch.slack.respond((_, position) => (position === 0 ? suppressed.promise : { status: 200, body: "ok" }));
    watch.simulator.world.setStatus(camera.id, "offline");
    await watch.slack.next();
    await watch.reload((config) => config.replace("group_interval: 1s", "group_interval: 2s"));
    suppressed.resolve({ status: 200, body: "ok" });
    await tellsAnother(watch);
    watch.simulator.world.setStatus(camera.id, "online");
    await watch.slack.waitFor(({ text }) => text.startsWith("✅"));
    expect(watch.slack.messages.filter(({ shown }) => shown.includes(camera.name))).toHaveLength(2);
  });

  it.concurrent("with excluded locations: their alerts end, and they are no longer watched", async () => {
    await using watch = await startWatch();
    const [camera] = cameras(watch);
    watch.simulator.world.setStatus(camera.id, "offline");
    await watch.slack.next();
    await watch.reload((config) =>
      config.replace("status_interval: 1s", `status_interval: 1s, exclude: [ ${camera.location.id} ]`),
    );
    expect((await watch.slack.next()).shown).toContain("no longer watched");
  });

  it.concurrent("at a signal or by itself; an invalid one is refused with its problems and changes nothing", async () => {
    await using stage = await prepareWatch();
    const daemon = await startDaemon(stage.config);
    const { address } = await daemon.logged("listening");
    await pictured(stage);
    const successful = async () => {
      const metrics = await (await fetch(`${address}/metrics`)).text();
      return /^lenswatch_config_last_reload_successful (\d)$/m.exec(metrics)?.[1];
    };
    expect(await successful()).toBe("1");
    await writeFile(daemon.file, stage.config.replace("for: 0s", "for: 2x"));
    daemon.signal("SIGHUP");
    const refused = await daemon.logged("configuration refused, keeping the active one");
    expect(String(refused.problems)).toContain('rules[0].for: found "2x", expected a duration');
    expect(await successful()).toBe("0");
    const [camera] = cameras(stage);
    stage.simulator.world.setStatus(camera.id, "offline");
    expect((await stage.slack.next()).shown).toContain(camera.name);

    // A Kubernetes ConfigMap changes like this: a link to a folder is swapped, the file keeps its name.
    const dir = dirname(daemon.file);
    await mkdir(join(dir, "second"));
    const changed = stage.config
      .replace('listen: "127.0.0.1:0"', 'listen: "127.0.0.1:1"')
      .replace("severity: critical", "severity: page");
    await writeFile(join(dir, "second", "lenswatch.yaml"), changed);
    await symlink("second", join(dir, "..data"));
    await symlink(join("..data", "lenswatch.yaml"), join(dir, "next"));
    await rename(join(dir, "next"), daemon.file);
    expect((await daemon.logged("configuration reloaded")).level).toBe("info");
    const later = await daemon.logged("these keys changed: they take effect at the next start");
    expect(later.keys).toEqual(["http.listen"]);
    expect(await successful()).toBe("1");
    expect(stage.slack.messages).toHaveLength(1);

    await mkdir(join(dir, "third"));
    await writeFile(join(dir, "third", "lenswatch.yaml"), changed.replace("severity: page", "severity: info"));
    await symlink("third", join(dir, "..next"));
    await rename(join(dir, "..next"), join(dir, "..data"));
    const inForce = () => daemon.log.filter(({ msg }) => msg === "configuration reloaded").length;
    await until("the swapped link was followed", () => inForce() === 2);
    expect(await daemon.end("SIGTERM")).toBe(0);
    await rm(dir, { recursive: true, force: true });
  });
});
