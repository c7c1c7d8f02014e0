/** What people read names things; ids are behind *Details* and in the API. */
import { expect, it } from "vitest";
import { lenswatch } from "../commands/run-command.ts";
import { shownText } from "../http/page/read-page.ts";
import { startWatch, type Watch } from "../support/app.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const rules = `
  - { alert: RecordingOffline, when: { status: offline }, labels: { severity: critical } }
  - alert: LocationOffline
    when: { location_offline: { at_least: 100%, clear_below: 80%, min_recordings: 2 } }
    labels: { severity: critical }
  - alert: CameraServerOffline
    when: { group_offline: { by: camera_server, at_least: 100%, clear_below: 80%, min_recordings: 3 } }
    labels: { severity: critical }
  - { alert: NotificationsFailing, when: { notifications: failing }, labels: { severity: critical } }`;

const env = { LENSWATCH_ADMIN_TOKEN: "sixteen-characters", USER: "dana" };
const authorization = { headers: { authorization: "Bearer sixteen-characters" } };

/** They are no pages, or change something. */
const NOT_READ = /^\/(?:metrics|api|sign|-\/)|\.(?:css|js|svg|csv|json|html)$|format=/;

/** The pages that links lead to from the first one, as their reader sees them before opening Details. */
async function pagesOf({ app: { address } }: Watch, most = 80): Promise<Map<string, string>> {
  const pages = new Map<string, string>();
  const left = ["/"];
  for (let path = left.shift(); path !== undefined && pages.size < most; path = left.shift()) {
    if (pages.has(path)) continue;
    const html = await (await fetch(new URL(path, address), authorization)).text();
    const shown = html.replace(/<details[^>]*>\s*<summary>(?:Details|Labels)<.*?<\/details>/gs, "");
    pages.set(path, shownText(shown).join("\n"));
    for (const [, href = ""] of html.matchAll(/<a [^>]*href="([^"]*)"/g)) {
      const to = new URL(href.replaceAll("&amp;", "&"), new URL(path, address));
      if (to.origin === new URL(address).origin && !NOT_READ.test(to.pathname + to.search))
        left.push(to.pathname + to.search);
    }
  }
  return pages;
}

/** What commands print to their reader. */
async function printed({ app: { address } }: Watch, names: readonly string[]): Promise<Map<string, string>> {
  const commands = [
    ...[["status"], ["status", "--all"], ["status", "--alerts", "--all"], ["status", "--location", names[0] ?? ""]],
    ...[["silence", "list"], ["handover", "--since", "1h"], ["report"], ["why", "Leeds Brigate"]],
    ...names.flatMap((name) => [
      ["why", name],
      ["why", name, "--all"],
      ["why", name, "--what-if"],
    ]),
    ["ack", names[0] ?? ""],
  ];
  const texts = new Map<string, string>();
  for (const argv of commands) {
    const { stdout, stderr } = await lenswatch([...argv, "--url", address], env, { now: Date.now() });
    texts.set(argv.join(" "), stdout + stderr);
  }
  return texts;
}

describeWithRedis("outages of a location, a camera server and a receiver", () => {
  it("are named in messages, on pages and by commands", async () => {
    await using watch = await startWatch({
      rules,
      placeNames: true,
      simulator: { locations: 6, recordingsPerLocation: 3, seed: 7, traits: { locations_per_camera_server: 2 } },
      http: 'http: { listen: "127.0.0.1:0", admin_token: sixteen-characters }',
      receivers: ({ slack }) => `
  - name: ops
    slack_configs: [ { api_url: "${slack.url}" } ]
    email_configs: [ { to: [ ops@example.com ] } ]
    webhook_configs: [ { url: "http://127.0.0.1:1/" } ]`,
    });
    const { locations, recordings } = watch.simulator.world;
    const run = (...argv: string[]) => lenswatch([...argv, "--url", watch.app.address], env, { now: Date.now() });
    const [first, second, third, , fifth] = locations;
    const [single] = fifth?.recordings ?? [];
    if (!first || !second || !third || !single) return expect.unreachable();
    expect((await run("silence", "add", single.name, "--comment", "rewiring")).exitCode).toBe(0);
    for (const id of [...third.recordings, ...first.recordings, single].map((one) => one.id))
      watch.simulator.world.setStatus(id, "offline");
    await watch.slack.waitFor(({ shown }) => shown.includes(third.name));
    for (const { id } of second.recordings) watch.simulator.world.setStatus(id, "offline");
    await watch.slack.waitFor(({ shown }) => shown.includes("Camera server"));
    await watch.mail.waitFor(({ text }) => text.includes("Notifications to webhook (ops)"));
    await until("it is silenced", async () => (await run("why", single.name)).stdout.includes("silenced by dana"));

    const pages = await pagesOf(watch);
    const texts = await printed(watch, [third.name, single.name, first.name, first.recordings[0]?.name ?? ""]);
    const messages = [
      ...watch.slack.messages.map(({ shown }) => shown),
      ...watch.mail.messages.map(({ text }) => text),
    ];
    const all = new Map([...pages, ...texts, ...messages.map((text, i) => [`message ${i}`, text] as const)]);
    expect([pages.size > 30, texts.size, messages.length > 5]).toEqual([true, 21, true]);
    const ids = recordings.flatMap(({ id, cameraServer, location }) => [
      id,
      cameraServer,
      location.id,
      location.organisation,
    ]);
    const found = [...all].flatMap(([where, text]) =>
      text
        .split("\n")
        .flatMap((line) =>
          [...new Set(ids)].some((id) => line.includes(id)) ||
          /\w\/(?:slack|email|webhook)\/\d|[0-9a-f]{8}-[0-9a-f]{4}-/.test(line)
            ? [`${where}: ${line.slice(0, 200)}`]
            : [],
        ),
    );
    expect(found).toEqual([]);
  });
});
