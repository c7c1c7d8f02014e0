import { afterAll, beforeAll, expect, it } from "vitest";
import { metricsOf, startWatch, type Watch } from "../support/app.ts";
import { describeWithRedis } from "../support/redis.ts";
import { type SlackStandIn, startSlackStandIn } from "../support/slack/stand-in.ts";
import { until } from "../support/until.ts";

describeWithRedis("a daemon with an app token", () => {
  let slack: SlackStandIn;
  let watch: Watch;
  let ahead = 0;
  beforeAll(async () => {
    slack = await startSlackStandIn({ channels: ["ops-cameras"], rateLimits: false });
    const { bot, app } = slack.tokens;
    watch = await startWatch({
      receivers: `[ { name: ops, slack_configs: [ { bot_token: ${bot}, app_token: ${app}, channel: "#ops-cameras" } ] } ]`,
      clock: { now: () => Date.now() + ahead },
      http: 'http: { listen: "127.0.0.1:0", admin_token: s3cret-of-the-admin }',
      more: `slack_api_url: ${slack.apiUrl}`,
    });
    await slack.socket.connected(1);
  });
  afterAll(async () => {
    await watch.close();
    await slack.close();
  });

  const headers = { authorization: "Bearer s3cret-of-the-admin" };
  async function change(method: string, path: string): Promise<void> {
    const response = await fetch(watch.app.address + path, { method, headers });
    expect(response.status, await response.text()).toBe(200);
  }
  async function exposed(): Promise<string | undefined> {
    const text = await metricsOf(watch.app);
    return /^lenswatch_slack_socket_connected (\d)/m.exec(text)?.[1];
  }
  async function notes(): Promise<readonly string[]> {
    const { notes } = (await (await fetch(`${watch.app.address}/readyz`)).json()) as { notes: string[] };
    // The clock is ahead of what was read.
    return notes.filter((note) => note.includes("Slack"));
  }

  it("shows on the root what people did by its buttons, and has none once it is over", async () => {
    const [, location] = watch.simulator.world.locations;
    const [recording] = location?.recordings ?? [];
    if (!location || !recording) throw new Error("no recording");
    watch.simulator.world.setStatus(recording.id, "offline");
    const root = await slack.waitFor(() =>
      slack.posts("ops-cameras").find(({ text }) => text.includes(recording.name)),
    );
    // A root is edited every few seconds at most.
    const shows = (what: string, isShown = true) => {
      ahead += 6_000;
      return slack.waitFor(() => JSON.stringify([root.blocks, root.attachments]).includes(what) === isShown);
    };
    await slack.press(root, "why");
    const why = await slack.waitFor(() => slack.ephemerals[0]);
    expect(why).toMatchObject({ user: "U0ANA", channel: root.channel, threadTs: undefined });
    expect(why.text).toMatch(new RegExp(`\\*.+ · ${location.name}\\*\\n.* offline → .* Slack`));
    await slack.press(root, "acknowledge", { user: "U0EVE", name: "eve" });
    expect((await slack.waitFor(() => slack.ephemerals[1])).text).toContain("Only people in #ops-cameras may");
    await slack.press(root, "acknowledge");
    await shows("acknowledged by ana");
    const acked = await slack.waitFor(() => slack.ephemerals[2]);
    await slack.press({ ...root, ...acked.body } as typeof root, "undo.acknowledgement");
    expect((await slack.waitFor(() => slack.ephemerals[3])).text).toContain("Undone");
    await shows("acknowledged by ana", false);
    await slack.press(root, "acknowledge");
    await shows("acknowledged by ana");
    await slack.press(root, "silence");
    const form = await slack.waitFor(() => slack.ephemerals[5]);
    const typed = { until: "08:00", reason: "new cable" };
    await slack.press({ ...root, ...form.body } as typeof root, "silence.alerts", { typed });
    const silenced = await slack.waitFor(() => slack.ephemerals[6]);
    expect(silenced.text).toMatch(/\(offline\)\*: silenced until/);
    await shows("silenced by ana");
    await shows("new cable");
    await slack.press({ ...root, ...silenced.body } as typeof root, "undo");
    expect((await slack.waitFor(() => slack.ephemerals[7])).text).toContain("Undone");
    await shows("silenced by ana", false);
    expect(await exposed()).toBe("1");
    expect(await notes()).toEqual([]);
    const [alert] = (await (await fetch(`${watch.app.address}/api/v2/alerts`)).json()) as { fingerprint: string }[];
    await change("DELETE", `/api/v1/alerts/${alert?.fingerprint}/ack`);
    await shows("acknowledged by ana", false);
    watch.simulator.world.setStatus(recording.id, "online");
    await shows('"actions"', false);
    await slack.press({ ...root, ...root.versions[0] }, "acknowledge");
    expect((await slack.waitFor(() => slack.ephemerals[8])).text).toMatch(
      /^This is over|does not know this message any more/,
    );
  });

  it("says that buttons do not work, by a metric and a note, until they do", async () => {
    slack.refuse("apps.connections.open", "internal_error");
    for (const connection of slack.socket.connections()) connection.terminate();
    await until("the connection is missed", async () => (await exposed()) === "0");
    expect(await notes()).toEqual([expect.stringContaining("Slack's buttons do not reach")]);
    slack.accept("apps.connections.open");
    await slack.socket.connected(1);
    await until("the connection is back", async () => (await exposed()) === "1");
    expect(await notes()).toEqual([]);
  });

  it("keeps its connection over a reload, and closes it where the app token is gone", async () => {
    const opened = slack.socket.opened();
    await watch.reload((text) => text.replace("group_wait: 0s", "group_wait: 1s"));
    expect(slack.socket.connections()).toHaveLength(1);
    expect(slack.socket.opened()).toBe(opened);
    await watch.reload((text) => text.replace(`app_token: ${slack.tokens.app}, `, ""));
    await slack.socket.connected(0);
    expect(await exposed()).toBeUndefined();
    expect(await notes()).toEqual([]);
  });
});
