/** A summary and the ends of what it was about: few messages, and one end of each alert, whatever happens between. */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Alert } from "../../src/health/alert.ts";
import { renderPagerDuty } from "../../src/notify/pagerduty.ts";
import {
  integration,
  MINUTE,
  markStarted,
  openTestStore,
  T0,
  type TestStore,
  useTestStore,
} from "../store/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";
import { down, Lab, lost, runsOf } from "./lab.ts";

const webhook = integration("ops/slack/0");
const chat = integration("ops/chat/0", { conversation: "edits" });
const mail = integration("ops/email/0/x", { type: "email", conversation: "threads" });
const pager = integration("ops/pagerduty/0", { type: "pagerduty", conversation: "edits", isPager: true });
const every = [webhook, chat, mail, pager];
const SITES = ["1", "2", "3", "4", "5", "6"];

function labOf(testStore: TestStore, integrations = every): Lab {
  const lab = new Lab(testStore, integrations);
  lab.route = { ...lab.route, stormGroups: 3 };
  return lab;
}

async function allFire(lab: Lab): Promise<Alert[]> {
  const alerts: Alert[] = [];
  for (const site of SITES) alerts.push(await lab.fires(`s${site}`, site));
  await lab.until(10);
  return alerts;
}

/** One after the other, this many minutes apart. */
async function allEnd(lab: Lab, alerts: readonly Alert[], apart: number): Promise<void> {
  for (const alert of alerts) {
    await lab.ends(alert);
    await lab.until(lab.minute() + apart);
  }
}

const endsOf = (lab: Lab, id: string) => lab.log.filter((one) => one.id === id && one.n.resolved.length > 0);

describeWithRedis("the ends of what one summary was about", () => {
  const testStore = useTestStore();

  it.each([
    [0.9, 1],
    [4, 3],
  ])("are few messages at each channel, %f minutes after each other: %i", async (apart, most) => {
    const lab = labOf(testStore());
    await allEnd(lab, await allFire(lab), apart);
    await lab.until(lab.minute() + 10);
    for (const { id } of every) {
      expect(endsOf(lab, id).length, lab.lines(id).join("\n")).toBeLessThanOrEqual(most);
      expect(
        endsOf(lab, id)
          .flatMap(({ n }) => n.resolved.map(({ key }) => key))
          .sort(),
        id,
      ).toEqual(SITES.map((site) => `s${site}`));
    }
  });

  it("wait for no longer than group_interval where another goes on, and are one message then", async () => {
    const lab = labOf(testStore(), [webhook]);
    const [first, second, ...rest] = await allFire(lab);
    await allEnd(lab, [first, second] as Alert[], 2);
    await lab.until(60);
    await allEnd(lab, rest, 0);
    await lab.until(70);
    expect(lab.lines().slice(1)).toEqual([
      "15 ops/slack resolved [2 groups] -s1 -s2",
      "60 ops/slack resolved [4 groups] -s3 -s4 -s5 -s6",
    ]);
  });

  it("go with news of their own group at once", async () => {
    const lab = labOf(testStore(), [webhook]);
    const [first] = await allFire(lab);
    if (first) await lab.ends(first);
    await lab.until(11);
    await lab.fires("s1b", "1");
    await lab.until(20);
    expect(lab.lines()[1]).toBe("11 ops/slack more +s1b -s1");
  });

  it("wait for nothing that another message was about", async () => {
    const lab = labOf(testStore(), [webhook]);
    const alerts = await allFire(lab);
    const other = await lab.fires("t", "7");
    await lab.until(20);
    await allEnd(lab, alerts, 0);
    expect(lab.lines().at(-1)).toBe("20 ops/slack resolved [6 groups] -s1 -s2 -s3 -s4 -s5 -s6");
    await lab.until(25);
    await lab.ends(other);
    await lab.until(26);
    expect(lab.lines().at(-1)).toBe("25 ops/slack resolved -t");
  });

  it("are sent by an integration whose replica died while they waited", async () => {
    const lab = labOf(testStore());
    const alerts = await allFire(lab);
    let kills = every.length;
    lab.how = () => (kills-- > 0 ? "killed_before" : "ok");
    await allEnd(lab, alerts, 0.5);
    await lab.until(40);
    for (const { id } of every) expect(endsOf(lab, id)).toHaveLength(1);
  });
});

const step = fc.record({
  flips: fc.subarray(SITES, { minLength: 0 }),
  how: fc.constantFrom("ok", "ok", "ok", "ok", "down", "lost", "killed_after", "killed_before"),
  silenced: fc.option(fc.constantFrom(...SITES), { nil: undefined, freq: 6 }),
  wait: fc.constantFrom(0, 0.4, 1, 3, 6),
});
const HOWS = { ok: "ok", down, lost, killed_after: "killed_after", killed_before: "killed_before" } as const;

describeWithRedis("whatever happens between", () => {
  const testStore = useTestStore();
  it("each alert of which an integration was notified is ended there once", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 12, size: "max" }), async (steps) => {
        const store = openTestStore(testStore().redis);
        await markStarted(store);
        await checkStory(labOf(store), steps);
      }),
      { numRuns: runsOf(3) },
    );
  });
});

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

async function checkStory(lab: Lab, steps: readonly Step[]): Promise<void> {
  const open = new Set<string>();
  lab.answer = (id, n) => {
    if (id !== pager.id) return n.conversation && { handle: n.conversation.handle ?? `root-${n.conversation.id}` };
    for (const { event_action: action, dedup_key: key } of renderPagerDuty(n, { sendResolved: true })) {
      if (action === "trigger") open.add(key);
      if (action === "resolve") open.delete(key);
    }
    return n.conversation && { handle: n.conversation.id };
  };
  const firing = new Map<string, Alert>();
  const endedAt = new Map<string, number>();
  const flip = async (site: string) => {
    const alert = firing.get(site);
    if (!alert) return void firing.set(site, await lab.fires(`s${site}`, site));
    firing.delete(site);
    endedAt.set(alert.id, lab.now);
    await lab.ends(alert);
  };
  let trouble = 0;
  for (const { flips, how, silenced, wait } of steps) {
    lab.now += 1;
    for (const site of flips) await flip(site);
    if (silenced) await lab.silence(`location_id=${silenced}`, lab.minute() + 2);
    lab.how = () => {
      if (how !== "ok") trouble++;
      return HOWS[how];
    };
    // A channel that fails, or kills, does so for a while.
    if (how !== "ok") await lab.until(lab.minute() + Math.min(wait, 0.6));
    lab.how = () => "ok";
    await lab.until(lab.minute() + wait);
  }
  lab.now += 1;
  for (const site of firing.keys()) await flip(site);
  await lab.until((lab.now - T0) / MINUTE + 30);

  const told = (id: string) => lab.lines(id).join("\n");
  if (trouble === 0) expect([...open], told(pager.id)).toEqual([]);
  for (const { id } of every) {
    expect(await lab.store.groups.notified(id), told(id)).toEqual([]);
    const turns = new Map<string, string>();
    for (const { at, n } of lab.log.filter((one) => one.id === id && one.n.reason !== "update")) {
      for (const one of n.firing) if (one.isNew) turns.set(one.id, `${turns.get(one.id) ?? ""}+`);
      for (const one of n.resolved) {
        turns.set(one.id, `${turns.get(one.id) ?? ""}-`);
        const waited = at - (endedAt.get(one.id) ?? 0);
        // `group_interval` after the message before it, and as long again for the others.
        if (trouble === 0) expect(waited, told(id)).toBeLessThanOrEqual(11 * MINUTE);
      }
    }
    for (const [episode, of] of turns) expect(of, `${episode}\n${told(id)}`).toMatch(trouble ? /^\+*-+$/ : /^\+?-$/);
  }
}
