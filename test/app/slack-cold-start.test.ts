import { expect, it } from "vitest";
import { matchesAll } from "../../src/alerting/matcher.ts";
import type { Notification } from "../../src/alerting/model.ts";
import { type AnswerBlock, SlackActions } from "../../src/app/slack-actions.ts";
import { slackIds } from "../../src/demo/slack/methods.ts";
import { pressOf } from "../../src/demo/slack/socket.ts";
import { createWorkspace } from "../../src/demo/slack/workspace.ts";
import { renderRoot } from "../../src/notify/slack/conversation.ts";
import { Lab } from "../deliver/lab.ts";
import { integration, useTestStore } from "../store/fixtures.ts";
import { aStart } from "../support/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";

const SLACK = "ops/slack/0";
const slack = integration(SLACK, { conversation: "edits" });
const app = { apiBase: "http://slack", botToken: "xoxb-1", appToken: "xapp-1", channel: "#ops-cameras", mention: [] };
const workspace = createWorkspace(["ops-cameras"]);
const [ops] = workspace.channels;

describeWithRedis("a button of a message that delivery sent", () => {
  const testStore = useTestStore();

  function start() {
    const lab = new Lab(testStore(), [slack]);
    lab.answer = () => ({ handle: JSON.stringify({ channel: ops?.id, ts: "1.2" }) });
    const shown: string[] = [];
    const answered: (readonly AnswerBlock[])[] = [];
    const actions = new SlackActions({
      clock: { now: () => lab.now },
      store: testStore().store,
      integrations: [{ id: SLACK, app: { ...app, actions: { allow: "channel" } } }],
      externalUrl: undefined,
      changes: lab.changes(),
      audit: () => {},
      active: () => lab.suppression().ofAll(),
      teamOf: async () => slackIds.team,
      isMember: async () => true,
      async tell(_app, _to, text, below = []) {
        shown.push(text);
        if (below.length > 0) answered.push(below);
      },
    });
    const blocksOf = (n: Notification) => renderRoot(n, { actions: true }).blocks;
    const press = (n: Notification, action: string, blocks: unknown = blocksOf(n)) => {
      const message = workspace.post(ops as never, { text: "x", blocks: blocks as never });
      const payload = pressOf(message, action, { typed: { reason: "works" } });
      return actions.act({ type: "interactive", envelope_id: "1", payload }, slackIds.app);
    };
    return { lab, press, shown, answered };
  }

  const acked = async () => [...(await testStore().store.acks.read()).keys()];

  /** What a cold start sums up: two alerts, and the message. */
  async function coldStart() {
    const { redis, store } = testStore();
    const started = start();
    const { lab } = started;
    await redis.del(store.keys.started);
    await store.coldStart.begin(lab.now);
    const alerts = [
      await lab.fires("a", "1", { labels: { location: "Leeds" } }),
      await lab.fires("b", "2", { labels: { location: "York" } }),
    ];
    await store.coldStart.sum(
      [SLACK],
      alerts.map(({ id }) => id),
      aStart,
      lab.now,
    );
    await lab.until(1);
    const [summary] = lab.log;
    if (summary?.n.reason !== "started") throw new Error("no summary");
    return { ...started, alerts, summary: summary.n };
  }

  it("acts on what the summary after a cold start named, and says so in its thread", async () => {
    const { lab, press, shown, answered, alerts, summary } = await coldStart();
    const later = await lab.fires("c", "3");
    await lab.until(2);
    await press(summary, "acknowledge");
    expect((await acked()).sort()).toEqual(alerts.map(({ id }) => id).sort());
    expect(shown).toEqual(["Acknowledged by ana.", "*2 alerts*: acknowledged."]);
    await press(summary, "silence");
    await press(summary, "silence.alerts", answered.at(-1));
    const silences = await testStore().store.silences.read(lab.now);
    const isSilenced = ({ labels }: { labels: Record<string, string> }) =>
      silences.some(({ matchers }) => matchesAll(matchers, labels));
    expect([...alerts, later].map(isSilenced)).toEqual([true, true, false]);
    expect(shown.join()).not.toContain("over");
  });

  it("does not know the summary of a Redis that was emptied since, and says so", async () => {
    const { lab, press, shown, summary } = await coldStart();
    const { redis, store } = testStore();
    const keys = await redis.keys(`${store.keys.prefix}*`);
    await redis.del(...keys);
    const next = new Lab(testStore(), [slack]);
    next.now = lab.now + 60_000;
    await store.coldStart.begin(next.now);
    const again = await next.fires("a", "1");
    await store.coldStart.sum([SLACK], [again.id], aStart, next.now);
    await next.until(5);
    lab.now = next.now;
    await press(summary, "acknowledge");
    expect(shown).toEqual([expect.stringContaining("does not know this message any more")]);
    expect(await acked()).toEqual([]);
  });

  it("is not offered for what somebody acknowledged, and names that person, below a silence too", async () => {
    const { lab } = start();
    const alert = await lab.fires("a");
    await lab.until(1);
    await lab.ack(alert);
    await lab.silence('alertname=~".+"', 60);
    await lab.until(3);
    const last = lab.log.at(-1)?.n;
    const root = JSON.stringify(last && renderRoot(last, { actions: true }));
    expect(root).toContain("acknowledged by ana");
    expect(root).toContain("silenced by");
    expect(root).not.toContain('"acknowledge"');
  });
});
