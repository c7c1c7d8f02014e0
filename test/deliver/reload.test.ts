/** A reload that groups alerts otherwise: what is known of each goes with it. */
import { expect, it } from "vitest";
import { integration, MINUTE, T0, useTestStore } from "../store/fixtures.ts";
import { PagerDuty } from "../support/pagerduty.ts";
import { describeWithRedis } from "../support/redis.ts";
import { canBeAsked, down, inTurn, Lab, lost } from "./lab.ts";

const slack = integration("ops/slack/0");
const pager = integration("ops/pagerduty/0", { type: "pagerduty", conversation: "edits", isPager: true });

// The lab groups by location: the control, a reload that changes nothing.
for (const label of ["location_id", "alertname"])
  describeWithRedis(`a reload with group_by: [${label}]`, () => {
    const testStore = useTestStore();
    const reload = (lab: Lab) => lab.reroute({ ...lab.route, groupBy: [label] });

    it("leaves late what is late", async () => {
      const lab = new Lab(testStore(), [slack]);
      lab.how = () => (lab.minute() < 15 ? down : "ok");
      lab.route = { ...lab.route, groupWaitMs: 5 * MINUTE };
      const a = await lab.fires("a");
      await lab.until(10);
      await reload(lab);
      await lab.until(10.2);
      await lab.ends(a);
      await lab.until(60);
      expect(lab.lines()).toEqual([expect.stringMatching(/resolved ±a$/)]);
    });

    it("leaves late what a silence suppressed that is withdrawn then", async () => {
      const lab = new Lab(testStore(), [slack]);
      lab.how = () => (lab.minute() < 15 ? down : "ok");
      const a = await lab.fires("a");
      const id = await lab.silence("recording_id=a", 600);
      await lab.until(5);
      await reload(lab);
      await lab.unsilence(id);
      await lab.until(10);
      await lab.ends(a);
      await lab.until(60);
      expect(lab.lines()).toEqual([expect.stringMatching(/resolved ±a$/)]);
    });

    it("counts no time for an escalation in which an alert was acknowledged", async () => {
      const lab = new Lab(testStore(), [slack, integration("phone/slack/0")]);
      lab.route = { ...lab.route, escalate: [{ afterMs: 15 * MINUTE, receiver: "phone" }] };
      const a = await lab.fires("a");
      await lab.until(1);
      await lab.ack(a);
      await lab.until(60);
      await lab.withdraw(a);
      await lab.until(61);
      await reload(lab);
      await lab.until(100);
      expect(lab.lines("phone/slack/0")).toEqual([expect.stringMatching(/^74\.\d+ phone\/slack first \+a$/)]);
    });

    it.each([0.6, 2])("leaves owed the end of what may have been sent, at minute %d", async (minute) => {
      const lab = new Lab(testStore(), [slack]);
      lab.how = inTurn("killed_after");
      const a = await lab.fires("a");
      await lab.until(0.501);
      if (minute > 1) await lab.silence("recording_id=a", 600);
      await lab.until(minute);
      await reload(lab);
      if (minute < 1) await lab.silence("recording_id=a", 600);
      await lab.until(10);
      await lab.ends(a);
      await lab.until(60);
      expect(lab.lines()).toEqual([expect.stringMatching(/first \+a$/), expect.stringMatching(/resolved [-±]a$/)]);
    });

    it.each([0.6, 2])("leaves no incident open that may have been begun, at minute %d", async (minute) => {
      const lab = new Lab(testStore(), [pager]);
      const pagerDuty = new PagerDuty();
      lab.answer = (_, n) => pagerDuty.take(n, lab.now);
      lab.how = inTurn(lost);
      const a = await lab.fires("a");
      await lab.until(0.501);
      await lab.ack(a);
      await lab.until(minute);
      await reload(lab);
      await lab.until(10);
      await lab.ends(a);
      await lab.until(60);
      expect(pagerDuty.states()).toEqual([]);
    });

    it("leaves no incident open, though two were begun apart", async () => {
      const lab = new Lab(testStore(), [pager]);
      const pagerDuty = new PagerDuty();
      lab.answer = (_, n) => pagerDuty.take(n, lab.now);
      lab.how = inTurn(lost, lost);
      const a = await lab.fires("a", "1");
      const all = [a, await lab.fires("b", "2")];
      lab.accepted = async (_, { firing: [one] }) => void (await lab.ack(all.find(({ id }) => id === one?.id) ?? a));
      await lab.until(2);
      await reload(lab);
      await lab.until(10);
      await lab.endAll(all);
      await lab.until(60);
      expect([pagerDuty.pages.length, pagerDuty.states()]).toEqual([2, []]);
    });

    it("repeats nothing that a killed replica had posted where the channel can be asked", async () => {
      const lab = new Lab(testStore(), [integration("ops/slack/0", { conversation: "edits" })]);
      canBeAsked(lab);
      lab.how = inTurn("killed_after");
      await lab.fires("a");
      await lab.until(0.6);
      await reload(lab);
      await lab.until(10);
      expect(lab.news()).toEqual([expect.stringMatching(/first \+a$/)]);
    });
  });

describeWithRedis("a reload that routes an alert to another receiver after a message of unknown outcome", () => {
  const testStore = useTestStore();
  const other = integration("other/slack/0");
  const hows = [lost, "killed_after"] as const;
  const cases = [slack, pager].flatMap((of) => hows.flatMap((how) => [0.501, 2].map((at) => [of, how, at] as const)));

  it.each(cases)(
    "ends what may have been sent, and sends nothing else there: %o, %o, minute %d",
    async (of, how, at) => {
      const lab = new Lab(testStore(), [of, other]);
      lab.route = { ...lab.route, receiver: "ops" };
      const pagerDuty = new PagerDuty();
      lab.answer = (id, n) => (id === pager.id ? pagerDuty.take(n, lab.now) : undefined);
      const next = inTurn(how);
      lab.how = (id) => (id === of.id ? next() : "ok");
      const a = await lab.fires("a");
      await lab.until(0.501);
      // It is not sent again before the reload.
      await lab.ack(a);
      await lab.until(at);
      await lab.reroute({ ...lab.route, receiver: "other" });
      await lab.withdraw(a);
      await lab.until(10);
      await lab.ends(a);
      await lab.until(60);
      expect(pagerDuty.states()).toEqual([]);
      for (const { id } of lab.integrations)
        expect(lab.news(id)).toEqual([expect.stringMatching(/first \+a$/), expect.stringMatching(/resolved [-±]a$/)]);
    },
  );
});

describeWithRedis("a reload", () => {
  const testStore = useTestStore();

  it("sends nothing to another receiver of a problem that is over already", async () => {
    const lab = new Lab(testStore(), [slack, integration("other/slack/0")]);
    const a = await lab.fires("a");
    await lab.until(1);
    const clearing = await lab.update(a, { clearing: true });
    await lab.reroute({ ...lab.route, receiver: "other" });
    await lab.until(10);
    await lab.ends(clearing, T0 + MINUTE);
    await lab.until(20);
    expect(lab.lines("other/slack/0")).toEqual([]);
  });

  it("that a replica has not learned of yet makes it wait, and not ask again and again", async () => {
    const { redis, store } = testStore();
    const lab = new Lab(testStore(), [slack]);
    lab.deps.checkActive = () => store.replicas.checkActive("notify", "earlier");
    await redis.hset(store.keys.active, "notify", "later");
    let intended = 0;
    lab.groups.intend = async (...args) => {
      if (++intended > 20) throw new Error("it asks again and again");
      return store.groups.intend(...args);
    };
    await lab.fires("a");
    lab.now += MINUTE;
    await lab.anotherReplica().deliver(slack.id);
    expect(intended).toBe(1);
    await redis.hset(store.keys.active, "notify", "earlier");
    await lab.until(2);
    expect(lab.lines()).toEqual([expect.stringMatching(/first \+a$/)]);
  });
});
