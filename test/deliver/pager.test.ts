/** A pager over the real scripts: who is paged when, what acknowledges an incident, and that each one ends. */
import { expect, it } from "vitest";
import type { Alert } from "../../src/health/alert.ts";
import { HOUR, integration, MINUTE, T0, useTestStore } from "../store/fixtures.ts";
import { PagerDuty } from "../support/pagerduty.ts";
import { describeWithRedis } from "../support/redis.ts";
import { down, inTurn, Lab, lost, useLab } from "./lab.ts";

const pager = integration("ops/pagerduty/0", { type: "pagerduty", conversation: "edits", isPager: true });

describeWithRedis("a pager", () => {
  const testStore = useTestStore();

  function watched() {
    const lab = new Lab(testStore(), [pager]);
    const pagerDuty = new PagerDuty();
    lab.answer = (_, n) => pagerDuty.take(n, lab.now);
    const hours = () => pagerDuty.pages.map(({ at }) => Math.round((at - T0) / HOUR));
    return { lab, pagerDuty, hours };
  }

  for (const where of ["in lenswatch", "at the pager"])
    it(`pages for a new outage at a location where another was acknowledged ${where}`, async () => {
      const { lab, pagerDuty, hours } = watched();
      const camera = await lab.fires("camera");
      await lab.until(5);
      if (where === "in lenswatch") await lab.ack(camera);
      else pagerDuty.acknowledge();
      await lab.until(10 * 60);
      const location = await lab.location("1");
      await lab.until(20 * 60);
      expect(hours()).toEqual([0, 10]);
      expect(pagerDuty.states().sort()).toEqual(["acknowledged", "triggered"]);
      await lab.ends(camera);
      await lab.until(21 * 60);
      expect(pagerDuty.states()).toEqual(["triggered"]);
      await lab.ends(location);
      await lab.until(22 * 60);
      expect(pagerDuty.states()).toEqual([]);
    });

  for (const how of ["is withdrawn", "runs out"])
    it(`pages at once when an acknowledgement ${how}, by an incident in place of the acknowledged one`, async () => {
      const { lab, pagerDuty, hours } = watched();
      const camera = await lab.fires("camera");
      await lab.until(5);
      await lab.ack(camera, how === "runs out" ? HOUR - 5 * 60_000 : undefined);
      await lab.until(60);
      if (how === "is withdrawn") await lab.withdraw(camera);
      await lab.until(61);
      expect(hours()).toEqual([0, 1]);
      expect(pagerDuty.states()).toEqual(["triggered"]);
      await lab.ends(camera);
      await lab.until(90);
      expect(pagerDuty.states()).toEqual([]);
    });

  it("pages for a withdrawal though other news of the group waits, and takes that along", async () => {
    const { lab, pagerDuty } = watched();
    const camera = await lab.fires("a");
    await lab.until(5);
    await lab.ack(camera);
    await lab.until(60);
    await lab.fires("b");
    await lab.until(61);
    await lab.fires("c");
    await lab.withdraw(camera);
    await lab.until(62);
    expect(pagerDuty.pages.length).toBe(3);
    await lab.until(10 * 60);
    expect(pagerDuty.pages.length).toBe(3);
    expect(pagerDuty.states()).toEqual(["triggered", "triggered"]);
  });

  it("sends a page of a withdrawn acknowledgement again until it is taken", async () => {
    const { lab, hours } = watched();
    const camera = await lab.fires("camera");
    await lab.until(5);
    await lab.ack(camera);
    await lab.until(60);
    lab.how = () => (lab.now < T0 + 2 * HOUR ? down : "ok");
    await lab.withdraw(camera);
    await lab.until(180);
    expect(hours()).toEqual([0, 2]);
  });

  it("acknowledges the incident of an alert that is silenced too, and pages anew once neither holds", async () => {
    const { lab, pagerDuty, hours } = watched();
    const camera = await lab.fires("camera");
    await lab.until(5);
    await lab.silence('location_id="1"', 60);
    await lab.until(10);
    await lab.ack(camera, 20 * 60_000);
    await lab.until(20);
    expect(pagerDuty.states()).toEqual(["acknowledged"]);
    await lab.until(90);
    expect(hours()).toEqual([0, 1]);
    expect(pagerDuty.states()).toEqual(["triggered"]);
    await lab.ends(camera);
    await lab.until(100);
    expect(pagerDuty.states()).toEqual([]);
  });

  it("acknowledges the incident when its last alert that nobody acknowledged ends", async () => {
    const { lab, pagerDuty } = watched();
    const a = await lab.fires("a");
    const b = await lab.fires("b");
    await lab.until(5);
    await lab.ack(a);
    await lab.until(10);
    expect(pagerDuty.states()).toEqual(["triggered"]);
    await lab.ends(b);
    await lab.until(120);
    expect(pagerDuty.states()).toEqual(["acknowledged"]);
    expect(pagerDuty.events.map(({ action }) => action)).toEqual(["trigger", "acknowledge"]);
  });

  for (const how of ["lost", "killed_after"] as const)
    it(`pages once where the answer to the page is ${how}, of what begins and of what comes later`, async () => {
      const { lab, pagerDuty } = watched();
      const times = new Set<number>();
      lab.how = (_, { reason }) => {
        const isFirst = reason !== "resolved" && !times.has(pagerDuty.pages.length);
        times.add(pagerDuty.pages.length);
        return isFirst ? (how === "lost" ? lost : how) : "ok";
      };
      const a = await lab.fires("a");
      await lab.until(10);
      const b = await lab.fires("b");
      await lab.until(20);
      expect(pagerDuty.states()).toEqual(["triggered", "triggered"]);
      expect(pagerDuty.pages.length).toBe(2);
      await lab.ends(a);
      await lab.until(30);
      expect(pagerDuty.states()).toEqual(["triggered"]);
      await lab.ends(b);
      await lab.until(40);
      expect(pagerDuty.states()).toEqual([]);
    });

  it.each(["ok", lost, "killed_after"] as const)(
    "keeps groups apart that are no storm, the first answer being %o",
    async (answer) => {
      const { lab, pagerDuty } = watched();
      lab.route = { ...lab.route, stormGroups: 2 };
      lab.how = inTurn(answer);
      await lab.silence("location_id=3", 600);
      const all = [await lab.fires("a", "1"), await lab.fires("b", "2"), await lab.fires("c", "3")];
      await lab.until(10);
      expect(pagerDuty.states()).toEqual(["triggered", "triggered"]);
      for (const one of all) await lab.ends(one);
      await lab.until(60);
      expect([pagerDuty.pages.length, pagerDuty.states()]).toEqual([2, []]);
    },
  );

  it("leaves no incident of a message of unknown outcome whose group joins a storm", async () => {
    const { lab, pagerDuty } = watched();
    lab.route = { ...lab.route, stormGroups: 2 };
    let isFirst = true;
    lab.how = () => {
      const how = isFirst ? lost : "ok";
      isFirst = false;
      return how;
    };
    const all = [await lab.fires("s1", "1")];
    lab.during = async () => {
      lab.during = async () => {};
      for (let i = 2; i <= 4; i++) all.push(await lab.fires(`s${i}`, `${i}`));
    };
    await lab.until(10);
    expect(pagerDuty.states()).toEqual(["triggered"]);
    for (const one of all) await lab.ends(one);
    await lab.until(60);
    expect(pagerDuty.states()).toEqual([]);
  });

  async function storm(size = 4) {
    const { lab, pagerDuty } = watched();
    lab.route = { ...lab.route, stormGroups: 2 };
    const all = [];
    for (let i = 1; i <= size; i++) all.push(await lab.fires(`s${i}`, `${i}`));
    await lab.until(5);
    return { lab, pagerDuty, all };
  }

  it("acknowledges the incident of a storm once all that fires in it is", async () => {
    const { lab, pagerDuty, all } = await storm();
    expect(pagerDuty.pages.length).toBe(1);
    for (const one of all.slice(0, -1)) await lab.ack(one);
    await lab.until(60);
    expect(pagerDuty.states()).toEqual(["triggered"]);
    for (const one of all.slice(-1)) await lab.ack(one);
    await lab.until(120);
    expect(pagerDuty.states()).toEqual(["acknowledged"]);
    for (const one of all) await lab.ends(one);
    await lab.until(180);
    expect(pagerDuty.states()).toEqual([]);
  });

  it("acknowledges the incident of a storm when the last that nobody acknowledged ends", async () => {
    const { lab, pagerDuty, all } = await storm();
    for (const one of all.slice(0, 2)) await lab.ack(one);
    for (const one of all.slice(2)) await lab.ends(one);
    await lab.until(60);
    expect(pagerDuty.states()).toEqual(["acknowledged"]);
  });

  it("pages once for what a storm brings later, and ends each incident with what it was about", async () => {
    const { lab, pagerDuty, all } = await storm();
    for (const one of all) await lab.ack(one);
    await lab.until(60);
    const later = [];
    for (let i = 1; i <= 4; i++) later.push(await lab.location(`${i}`));
    await lab.until(70);
    expect(pagerDuty.pages.length).toBe(2);
    for (const one of all) await lab.ends(one);
    await lab.until(80);
    expect(pagerDuty.states()).toEqual(["triggered"]);
    for (const one of later.slice(1)) await lab.ends(one);
    await lab.until(90);
    expect(pagerDuty.states()).toEqual(["triggered"]);
    for (const one of later) await lab.ends(one);
    await lab.until(100);
    expect(pagerDuty.states()).toEqual([]);
  });

  it("keeps the incident of a location whose recordings are partly offline still, and pages nobody again", async () => {
    const { lab, pagerDuty } = watched();
    lab.inhibitRules = [];
    const location = await lab.location("1");
    const silence = await lab.silence("alertname=RecordingOffline", 600);
    const camera = await lab.fires("camera", "1", { facts: { timezone: "UTC", problem: "offline" } });
    await lab.until(60);
    await lab.ends(location);
    await lab.unsilence(silence);
    await lab.until(70);
    expect([pagerDuty.pages.length, pagerDuty.states()]).toEqual([1, ["triggered"]]);
    await lab.ends(camera);
    await lab.until(80);
    expect(pagerDuty.states()).toEqual([]);
  });

  it("knows of an acknowledgement under a silence, and pages once both are over", async () => {
    const { lab, pagerDuty, hours } = watched();
    const camera = await lab.fires("camera");
    await lab.until(5);
    await lab.silence("recording_id=camera", 120);
    await lab.until(10);
    expect(pagerDuty.states()).toEqual(["triggered"]);
    await lab.ack(camera);
    await lab.until(20);
    expect(pagerDuty.states()).toEqual(["acknowledged"]);
    await lab.withdraw(camera);
    await lab.until(119);
    expect(hours()).toEqual([0]);
    await lab.until(125);
    expect(hours()).toEqual([0, 2]);
  });

  it("keeps incidents and what is acknowledged when a reload groups their alerts otherwise", async () => {
    const { lab, pagerDuty } = watched();
    const a = await lab.fires("a");
    const b = await lab.fires("b");
    await lab.until(5);
    await lab.ack(a);
    await lab.until(10);
    await lab.reroute({ ...lab.route, groupBy: ["recording_id"] });
    await lab.until(30);
    await lab.ack(b);
    await lab.until(60);
    expect([pagerDuty.pages.length, pagerDuty.states()]).toEqual([1, ["acknowledged"]]);
    await lab.ends(a);
    await lab.until(90);
    expect(pagerDuty.states()).toEqual(["acknowledged"]);
    await lab.ends(b);
    await lab.until(120);
    expect(pagerDuty.states()).toEqual([]);
  });
});

describeWithRedis("the incident of a summary of unknown outcome", () => {
  const labOf = useLab(pager);

  /** A summary of three groups whose answer is lost. */
  async function begun() {
    const lab = labOf({ groupWaitMs: 0, stormGroups: 1 });
    const pagerDuty = new PagerDuty();
    lab.answer = (_, n) => pagerDuty.take(n, lab.now);
    lab.how = inTurn(lost);
    const [a, b, c] = (await lab.fireAll(["a", "b", "c"])) as [Alert, Alert, Alert];
    await lab.deliver(pager.id);
    let silences: string[] = [];
    return {
      ...{ a, b, c },
      open: pagerDuty.incidents,
      events: () => pagerDuty.events.map(({ action }) => action),
      async silence(...alerts: Alert[]) {
        for (const id of silences) await lab.unsilence(id);
        silences = [await lab.silence(`recording_id=~"${alerts.map(({ key }) => key).join("|")}"`, 600)];
      },
      async end(...alerts: Alert[]) {
        for (const alert of alerts) await lab.ends(alert);
      },
      pass: () => lab.pass(10 * MINUTE),
      async deliver() {
        await lab.pass(10 * MINUTE);
        await lab.deliver(pager.id);
      },
      split: () => lab.reroute({ ...lab.route, stormGroups: undefined }),
    };
  }

  it("is resolved with the last of its groups where they are not a summary any more", async () => {
    const { a, b, c, open, events, end, deliver, split } = await begun();
    await split();
    await deliver();
    expect([events(), open.size]).toEqual([["trigger", "trigger", "trigger", "trigger"], 1]);
    await end(a, b);
    await deliver();
    expect(open.size).toBe(1);
    await end(c);
    await deliver();
    expect([events().at(-1), open.size]).toEqual(["resolve", 0]);
  });

  it("stays open while a group of it fires, though others ended before it was sent again", async () => {
    const { a, b, c, open, events, end, pass, deliver, split } = await begun();
    await split();
    await pass();
    await end(b, c);
    await deliver();
    expect([events(), open.size]).toEqual([["trigger", "trigger"], 1]);
    await end(a);
    await deliver();
    expect([events().at(-1), open.size]).toEqual(["resolve", 0]);
  });

  it("is resolved with the last of its groups where all were suppressed before it was sent again", async () => {
    const { a, b, c, open, events, silence, end, deliver } = await begun();
    await silence(a, b, c);
    await deliver();
    await deliver();
    expect([events(), open.size]).toEqual([["trigger"], 1]);
    await end(a);
    await deliver();
    await end(b);
    await deliver();
    expect(open.size, "c still fires").toBe(1);
    await end(c);
    await deliver();
    expect([events(), open.size]).toEqual([["trigger", "resolve"], 0]);
  });

  it("is continued, and resolved, by a group whose suppression ended", async () => {
    const { a, b, c, open, events, silence, end, deliver } = await begun();
    await silence(a, b, c);
    await deliver();
    await silence(b, c);
    await deliver();
    expect([events(), open.size]).toEqual([["trigger", "trigger"], 1]);
    await end(a, b);
    await deliver();
    expect(open.size, "c still fires").toBe(1);
    await end(c);
    await deliver();
    expect([events().at(-1), open.size]).toEqual(["resolve", 0]);
  });
});
