import { spawnSync } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { metricsOf, startWatch } from "../support/app.ts";
import { temporaryDirectory } from "../support/directory.ts";
import { startHttpSink } from "../support/http-sink.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;

const rules = `
  - alert: RecordingOffline
    when: { status: offline }
    labels: { severity: critical }
  - alert: ServiceUnreachable
    when: { service: unreachable }
    for: 3s
    labels: { severity: critical }
  - alert: DirectoryStale
    when: { directory: stale }
    labels: { severity: warning }`;

const route = `
  receiver: ops
  group_by: [location_id]
  group_wait: 0s
  group_interval: 1s
  routes:
    - { receiver: north, matchers: [region = "north"] }
    - { receiver: south, matchers: [region = "south"] }`;

/** HTML of which a page or a mail must show every character. */
const HOSTILE = `<img src=x onerror=alert(1)> <!channel> {{ .Labels }}`;

describeWithRedis("a directory of shops", () => {
  it.concurrent("gives labels, contacts and recipients, is followed, and kept while it cannot be read", async () => {
    const file = join(await temporaryDirectory(), "shops.csv");
    const names: string[] = [];
    const write = (manager: string, mail: string) => {
      const [first = "", second = "", third = ""] = names;
      const rows = [
        [first, "north", manager, "0113 496 0000", mail],
        [second, "south", "Femi", "020 7946 0000", ""],
        [third, "north", HOSTILE, "0", "x@example.com, nobody"],
        ["Nowhere", "north", "Nobody", "", "nobody@example.com"],
      ];
      const lines = [["location", "region", "manager", "phone", "manager_email"], ...rows];
      return writeFile(file, lines.map((row) => row.map((cell) => `"${cell}"`).join()).join("\n"));
    };
    const north = await startHttpSink();
    await using watch = await startWatch({
      rules,
      route,
      placeNames: true,
      more: `directory: { locations: { file: ${file} }, contacts: [manager, phone], refresh_interval: 1s }`,
      receivers: ({ slack }) => `
  - name: ops
    slack_configs: [ { api_url: "${slack.url}" } ]
  - name: north
    webhook_configs: [ { url: "${north.url}" } ]
    email_configs: [ { to: [ { directory: manager_email } ] } ]
  - name: south
    email_configs: [ { to: [ { directory: manager_email } ] } ]`,
      before(world) {
        names.push(...world.locations.map(({ name }) => name));
      },
    });
    // The first daemon found no file.
    await until("the service's names are known", async () => (await metricsOf(watch.app)).includes(names[0] ?? "?"));
    await write("Joan Smith", "joan@example.com");
    const { world } = watch.simulator;
    const info = (text: string) => text.split("\n").filter((line) => line.startsWith("lenswatch_location_info{"));
    await until("the directory is read", async () => info(await metricsOf(watch.app)).length === 3);
    const metrics = await metricsOf(watch.app);
    expect(info(metrics)[0]).toMatch(/location_id="[0-9a-f]+",location="[^"]+",region="north"} 1$/);
    expect(metrics).not.toMatch(/Joan|joan@|0113 496/);
    if (hasPromtool) {
      const checked = spawnSync("promtool", ["check", "metrics"], { input: metrics, encoding: "utf8" });
      expect(checked.stdout + checked.stderr).not.toMatch(/error|parsing/i);
    }

    const [first, second, third] = world.locations.map(({ recordings }) => recordings[0]);
    world.setStatus(first?.id ?? "", "offline");
    const mail = await watch.mail.waitFor(({ rcpts }) => rcpts.includes("joan@example.com"));
    expect(mail.text).toContain("Call Joan Smith, 0113 496 0000");
    const posted = await north.waitFor(({ text }) => text.includes(names[0] ?? "?"));
    const [alert] = JSON.parse(posted.text).alerts;
    expect(alert.labels).toMatchObject({ region: "north" });
    expect(alert.labels).not.toHaveProperty("manager");

    // Without a recipient in its row, the default receiver is notified.
    world.setStatus(second?.id ?? "", "offline");
    const message = await watch.slack.waitFor(({ shown }) => shown.includes(names[1] ?? "?"));
    expect(message.shown).toContain("Call Femi, 020 7946 0000");

    world.setStatus(third?.id ?? "", "offline");
    const hostile = await watch.mail.waitFor(({ rcpts }) => rcpts.includes("x@example.com"));
    expect(hostile.html).not.toContain("<img src=x");
    expect(hostile.text).toContain(HOSTILE);
    const place = third?.location.id ?? "";
    const page = await (await fetch(`${watch.app.address}/?location=${place}`)).text();
    expect(page).toContain("&lt;img src=x onerror=alert(1)&gt;");
    expect(page).not.toContain("<img src=x");
    expect(watch.mail.messages.flatMap(({ rcpts }) => rcpts)).not.toContain("nobody@example.com");

    // A broken file keeps the last one, and says so, also over a restart; nobody is taken for removed.
    await writeFile(file, "location,region\n");
    await watch.slack.waitFor(({ shown }) => shown.includes("it has no column manager"));
    await watch.app.stop();
    await rm(file);
    const before = watch.mail.messages.length;
    await watch.start();
    world.setStatus(first?.location.recordings[1]?.id ?? "", "offline");
    const sent = () => watch.mail.messages.slice(before);
    await until("the manager of then is written to", () => sent().length > 0);
    expect(sent().map(({ rcpts }) => rcpts)).toEqual([["joan@example.com"]]);
    expect(sent()[0]?.text).toContain("Call Joan");
    expect(info(await metricsOf(watch.app))).toHaveLength(3);
    expect(watch.slack.messages.filter(({ shown }) => shown.includes(names[0] ?? "?"))).toEqual([]);

    // Once it is mended, what fires is sent to the manager of now.
    await write("Amy", "amy@example.com");
    const amy = await watch.mail.waitFor(({ rcpts }) => rcpts.includes("amy@example.com"));
    expect(amy.text).toContain("Call Amy");
    const recovered = () => watch.slack.messages.filter(({ shown }) => shown.includes("Directory of shops recovered"));
    await until("that it is read again is said", () => recovered().length === 2);
  });
});
