/** Messages whose answer is lost, or whose replica dies: each is ended, and what roots show once that was cleared up. */
import { expect, it } from "vitest";
import type { FoundPost, Notification } from "../../src/alerting/model.ts";
import type { Integration } from "../../src/alerting/route.ts";
import type { Alert } from "../../src/health/alert.ts";
import { integration, MINUTE, useTestStore } from "../store/fixtures.ts";
import { PagerDuty } from "../support/pagerduty.ts";
import { describeWithRedis } from "../support/redis.ts";
import { inTurn, Lab, lost, refusal } from "./lab.ts";

const app = integration("ops/slack/0", { conversation: "edits" });

/** A channel that keeps its posts, and what each root shows. */
function channelOf(lab: Lab) {
  const posts: (FoundPost & { readonly conversation: string })[] = [];
  const roots = new Map<string, Notification>();
  lab.answer = (_, n) => {
    const { id = "", handle = `root-${posts.length}`, groups, isOver } = n.conversation ?? {};
    const post = { conversation: id, handle, notificationId: n.messageId };
    if (n.reason !== "update") posts.push(post);
    // A summary says when it was true, and is only closed.
    if (!roots.has(handle) || groups === undefined || isOver) roots.set(handle, n);
    return { handle };
  };
  lab.find = (_, { id }) => posts.filter((one) => one.conversation === id);
  const isOver = () => [...roots.values()].map(({ conversation }) => conversation?.isOver);
  return { roots, isOver };
}

describeWithRedis("a message of unknown outcome that was found", () => {
  const testStore = useTestStore();

  for (const how of [lost, "killed_after"] as const)
    it(`of a summary (${how === lost ? "lost" : how}) is over with the last of its groups, though some end before it was found`, async () => {
      const lab = new Lab(testStore(), [app]);
      lab.route = { ...lab.route, stormGroups: 10 };
      const { isOver } = channelOf(lab);
      lab.how = inTurn(how);
      const all: Alert[] = [];
      for (let i = 1; i <= 15; i++) all.push(await lab.fires(`s${i}`, `${i}`));
      lab.during = async () => {
        lab.during = async () => {};
        for (const one of all.splice(0, 3)) await lab.ends(one);
      };
      await lab.until(20);
      expect(isOver()).toEqual([false]);
      expect(lab.news().filter((line) => line.includes("-s1"))).toHaveLength(1);
      for (const one of all) await lab.ends(one);
      await lab.until(60);
      expect(isOver()).toEqual([true]);
    });

  it("is over with its subject, though many others begin before it was found", async () => {
    const lab = new Lab(testStore(), [app]);
    lab.route = { ...lab.route, stormGroups: 10 };
    const { roots, isOver } = channelOf(lab);
    lab.how = inTurn("killed_after");
    const first = await lab.fires("first", "0");
    const others: Alert[] = [];
    lab.during = async () => {
      lab.during = async () => {};
      for (let i = 1; i <= 15; i++) others.push(await lab.fires(`s${i}`, `${i}`));
      await lab.ends(first);
    };
    await lab.until(20);
    expect(isOver()).toEqual([true, false]);
    expect([...roots.values()][0]?.resolved.map(({ key }) => key)).toEqual(["first"]);
  });

  it.each(["rate_limited", "auth", "not_found"] as const)(
    "is posted once, though the channel cannot be asked for four minutes: %s",
    async (code) => {
      const lab = new Lab(testStore(), [app]);
      channelOf(lab);
      const { find } = lab;
      lab.find = (...asked) => {
        if (lab.minute() < 4) throw refusal(code);
        return find?.(...asked);
      };
      lab.how = inTurn(lost);
      await lab.fires("a");
      await lab.until(20);
      expect(lab.news()).toEqual([expect.stringContaining("first +a")]);
    },
  );
});

describeWithRedis("a storm that a channel did not take", () => {
  const testStore = useTestStore();
  it.for([app, integration("ops/slack/0")])(
    "names what ended before it does (conversation: $conversation)",
    async (to) => {
      const lab = new Lab(testStore(), [to]);
      lab.route = { ...lab.route, stormGroups: 10 };
      channelOf(lab);
      const later = refusal("server_error", { isUnsent: false });
      lab.how = () => (lab.minute() < 0.7 ? later : "ok");
      const all = await lab.fireAll(Array.from({ length: 15 }, (_, i) => `s${i}`));
      await lab.until(0.55);
      await lab.endAll(all.slice(0, 3));
      await lab.until(20);
      const named = lab.log.flatMap(({ n }) => [...n.firing, ...n.resolved].map(({ key }) => key));
      expect(new Set(named).size).toBe(15);
    },
  );
});

describeWithRedis("a message that may have been accepted", () => {
  const testStore = useTestStore();
  const hook = integration("ops/slack/0");
  const channels = [
    hook,
    integration("ops/email/0/x", { type: "email", conversation: "threads" }),
    // It may not read its history.
    app,
  ];
  const hows = [lost, "killed_after"] as const;
  const cases = channels.flatMap((of) =>
    hows.flatMap((how) => ["silenced", "acknowledged"].map((by) => [of, how, by] as const)),
  );
  it.each(cases)(
    "is ended, though its alert was suppressed before the retry: %o, %o, %s",
    async (of, how, suppressed) => {
      const lab = new Lab(testStore(), [of]);
      lab.how = inTurn(how);
      const a = await lab.fires("a");
      await lab.until(0.501);
      if (suppressed === "silenced") await lab.silence("recording_id=a", 600);
      else await lab.ack(a);
      await lab.until(10);
      await lab.ends(a);
      await lab.until(60);
      expect(lab.news()).toEqual([expect.stringContaining("first +a"), expect.stringMatching(/resolved [-±]a/)]);
    },
  );

  it("is ended where its alert was suppressed until it was sent, and is again", async () => {
    const lab = new Lab(testStore(), [hook]);
    lab.how = inTurn("killed_after");
    const a = await lab.fires("a");
    await lab.silence("recording_id=a", 2);
    await lab.until(2.001);
    await lab.ack(a);
    await lab.until(10);
    await lab.ends(a);
    await lab.until(60);
    expect(lab.news()).toEqual([expect.stringContaining("first +a"), expect.stringMatching(/resolved [-±]a/)]);
  });

  it.each(["ok", ...hows] as const)(
    "pages by escalation, and is ended though acknowledged by who was paged: %o",
    async (how) => {
      const phone = integration("phone/pagerduty/0", { type: "pagerduty", conversation: "edits", isPager: true });
      const lab = new Lab(testStore(), [hook, phone]);
      lab.route = { ...lab.route, escalate: [{ afterMs: 15 * MINUTE, receiver: "phone" }] };
      const pagerDuty = new PagerDuty();
      lab.answer = (id, n) => (id === phone.id ? pagerDuty.take(n, lab.now) : undefined);
      const next = inTurn(how);
      lab.how = (id) => (id === phone.id ? next() : "ok");
      const a = await lab.fires("a");
      await lab.until(15.501);
      expect(pagerDuty.states()).toEqual(["triggered"]);
      await lab.ack(a);
      await lab.until(30);
      await lab.ends(a);
      await lab.until(90);
      expect(pagerDuty.states()).toEqual([]);
    },
  );
});

describeWithRedis("a message of which Redis lost everything but what was written before it", () => {
  const testStore = useTestStore();
  const pager = integration("ops/pagerduty/0", { type: "pagerduty", conversation: "edits", isPager: true });

  async function played(of: Integration, prepare: (lab: Lab) => void): Promise<Lab> {
    const lab = new Lab(testStore(), [of]);
    prepare(lab);
    let restore: (() => Promise<void>) | undefined;
    lab.during = async () => {
      restore ??= await lab.snapshot();
    };
    const a = await lab.fires("a");
    await lab.until(0.5);
    await restore?.();
    await lab.endLease(of.id);
    await lab.until(10);
    await lab.ends(a);
    await lab.until(60);
    return lab;
  }

  it("leaves no incident open at a pager", async () => {
    const pagerDuty = new PagerDuty();
    await played(pager, (lab) => {
      lab.answer = (_, n) => pagerDuty.take(n, lab.now);
    });
    expect([pagerDuty.pages.length, pagerDuty.states()]).toEqual([1, []]);
  });

  it("is not repeated where the channel can be asked", async () => {
    const lab = await played(app, channelOf);
    expect(lab.news()).toEqual([expect.stringContaining("first +a"), expect.stringContaining("resolved -a")]);
  });

  it.each([
    ["a pager", pager, false, true],
    ["the Slack app", app, true, true],
    ["the Slack app that may not be asked", app, false, false],
    ["a webhook", integration("ops/slack/0"), false, false],
  ])("was on disk where the channel can be asked or deduplicates: %s", async (_, of, canBeAsked, isSynced) => {
    const lab = new Lab(testStore(), [of]);
    if (canBeAsked) lab.find = () => [];
    const asked: unknown[] = [];
    lab.groups.intend = async (...args) => {
      asked.push(args[3]);
      return lab.store.groups.intend(...args);
    };
    await lab.fires("a");
    await lab.until(1);
    expect(asked).toEqual([{ isSynced }]);
  });
});
