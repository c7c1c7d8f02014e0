import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { camerasOf, metricsOf, pictured, prepareWatch, startWatch, type Watch } from "../support/app.ts";
import { startDaemon } from "../support/daemon.ts";
import { describeWithRedis } from "../support/redis.ts";
import { startSlackSink } from "../support/slack-sink.ts";
import { until } from "../support/until.ts";

/** An outage of another recording, notified by all: everything due before it has been sent. */
async function tellsAnother(watch: Watch): Promise<void> {
  const [, other] = camerasOf(watch);
  watch.simulator.world.setStatus(other.id, "offline");
  await watch.slack.waitFor(({ shown }) => shown.includes(other.name));
}

describeWithRedis("a reload", () => {
  it.concurrent("repeats nothing, tells who is new there what fires, and ends what is no longer watched, evaluated or sent there", async () => {
    await using watch = await startWatch();
    const { slack, mail } = watch;
    const [camera] = camerasOf(watch);
    const about = (place: { readonly messages: readonly { shown?: string; text: string }[] }) =>
      place.messages.filter(({ shown, text }) => (shown ?? text).includes(camera.name));
    watch.simulator.world.setStatus(camera.id, "offline");
    await Promise.all([slack.next(), mail.next()]);
    const added = await startSlackSink();
    await using _ = { [Symbol.asyncDispose]: () => added.close() };
    await watch.reload((config) =>
      config.replace(`"${slack.url}" } ]`, `"${slack.url}" }, { api_url: "${added.url}" } ]`),
    );
    expect((await added.starts.next()).shown).toContain(camera.name);
    await watch.reload((config) => config.replace("severity: critical", "severity: page, team: cameras"));
    await watch.reload((config) => config.replace("group_by: [location_id]", "group_by: [alertname, recording_id]"));
    await tellsAnother(watch);
    expect(about(slack)).toHaveLength(1);
    await until("both were written down, after the summary of the start", async () => {
      const metrics = await metricsOf(watch.app);
      return /notifications_total\{receiver="ops",integration="email"\} 3/.test(metrics);
    });

    const { config } = watch;
    await watch.reload((text) => text.replace(/\n {4}email_configs:.*/, ""));
    const end = await mail.waitFor(({ text }) => text.includes("not sent here any more"));
    expect(end.subject).not.toContain("✅");
    await watch.reload((text) =>
      text.replace("status_interval: 1s", `status_interval: 1s, exclude: [ ${camera.location.id} ]`),
    );
    expect((await slack.waitFor(({ shown }) => shown.includes("no longer watched"))).shown).toContain(camera.name);
    expect([about(slack).length, slack.messages.length]).toEqual([2, 3]);
    await watch.reload(() =>
      config.replace(/ {2}- alert: RecordingOffline[\s\S]*?(?= {2}- alert: ServiceUnreachable)/, ""),
    );
    const removed = await slack.waitFor(({ shown }) => shown.includes("rule removed"));
    expect(removed.text).not.toContain("✅");
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
    const [camera] = camerasOf(stage);
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
