/** Questions: an ETA that is over, and a silence that ends soon, are asked about once. T0 is 08:00 UTC. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { fingerprint } from "../../src/alerting/fingerprint.ts";
import type { Alert } from "../../src/health/alert.ts";
import { messageOf } from "../../src/notify/message.ts";
import { renderReply } from "../../src/notify/slack/conversation.ts";
import { integration, MINUTE, markStarted, openTestStore, T0, to, useTestStore } from "../store/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";
import { by, canBeAsked, down, Lab, lost, runsOf, useLab } from "./lab.ts";

const ops = integration("ops/slack/0", { conversation: "edits" });
const mail = integration("ops/email/0/x", { endpoint: "smtp" });
const pager = integration("ops/pagerduty/0", { endpoint: "pager", isPager: true });
const hook = integration("ops/webhook/0", { endpoint: "hook", everyGroup: true });

const acked = (lab: Lab, alert: Alert, etaMinute: number, author = "amy") =>
  lab.changes().acknowledge(fingerprint(alert.labels), { author, comment: "", eta: T0 + etaMinute * MINUTE }, by);
const undo = (lab: Lab, alert: Alert) => lab.changes().undoAck(fingerprint(alert.labels), by);
const asked = (lab: Lab) => lab.news().filter((line) => line.includes("question"));

describeWithRedis("an ETA that is over", () => {
  const labOf = useLab(ops, mail, pager, hook);

  it("is asked about once by each channel that people read, in words for its owner, and the alert is not reminded of", async () => {
    const lab = labOf();
    const alert = await lab.fires("Till 3", "1", { labels: { recording: "Till 3", location: "Leeds" } });
    await lab.until(2);
    await acked(lab, alert, 60);
    await lab.until(600);
    expect(asked(lab)).toEqual(["60 ops/slack question =Till 3", "60 ops/email question =Till 3"]);
    expect(lab.news()).toHaveLength(6);
    const [{ n }] = lab.log.filter(({ n }) => n.reason === "question") as [(typeof lab.log)[number]];
    const { title, lead } = messageOf(n, 5);
    expect(title).toMatch(/ amy, ETA 09:00 UTC is over: .*Till 3/);
    expect(lead).toEqual([
      `Give another ETA: lenswatch ack ${fingerprint(alert.labels)} --eta 2h; or withdraw: --withdraw.`,
    ]);
    expect(n.standing).toEqual([]);
  });

  it("is asked about again where another one is given, and not where it ended or was undone", async () => {
    const lab = labOf();
    const [one, two, three] = (await lab.fireAll(["one", "two", "three"])) as [Alert, Alert, Alert];
    await lab.until(2);
    for (const alert of [one, two, three]) await acked(lab, alert, 60);
    await lab.until(10);
    await undo(lab, two);
    await lab.until(59);
    await lab.ends(three);
    await lab.until(61);
    await acked(lab, one, 120);
    await lab.until(230);
    expect(asked(lab).filter((line) => line.includes("slack"))).toEqual([
      "60 ops/slack question =one",
      "120 ops/slack question =one",
    ]);
  });

  it("waits for what else suppresses the alert", async () => {
    const lab = labOf();
    const alert = await lab.fires("one");
    await lab.until(2);
    await acked(lab, alert, 30);
    await lab.silence('alertname=~".+"', 50);
    await lab.until(100);
    expect(asked(lab)).toEqual(["50 ops/slack question =one", "50 ops/email question =one"]);
  });
});

describeWithRedis("a silence that ends soon", () => {
  const labOf = useLab(ops, mail);

  it("is asked about by the first alert it suppresses, which is notified when it ends", async () => {
    const lab = labOf();
    await lab.silence('alertname=~".+"', 60);
    await lab.until(1);
    const first = await lab.fires("first", "1");
    await lab.pass(1_000);
    await lab.fires("second", "2");
    await lab.until(55);
    await lab.fires("late", "3");
    await lab.until(59);
    expect(lab.news()).toEqual(["50 ops/slack question =first", "50 ops/email question =first"]);
    const [{ n }] = lab.log as [(typeof lab.log)[number]];
    expect(messageOf(n, 5).title).toContain("The silence of ana ends at 09:00 UTC: ");
    expect(JSON.stringify(renderReply(n, { actions: true }).blocks)).toContain('"action_id":"extend"');
    expect(messageOf(n, 5).lead[0]).toMatch(/^Extend it: lenswatch silence extend [0-9a-f]{8} --for 1h; or let it end/);
    await lab.until(70);
    const after = lab.news("ops/slack/0").slice(1);
    expect(after.map((line) => line.replace(/first |more /, "")).sort()).toEqual(
      ["first", "late", "second"].map((key) => `60 ops/slack +${key}`),
    );
    await lab.ends(first);
    await lab.until(80);
    expect(lab.news("ops/slack/0").at(-1)).toContain("resolved -first");
  });

  it("is asked about again once it was extended, and what ends meanwhile is said to have ended", async () => {
    const lab = labOf();
    const id = await lab.silence('alertname=~".+"', 60);
    await lab.until(1);
    const alert = await lab.fires("one");
    await lab.until(52);
    await lab.changes().extendSilence(id, T0 + 120 * MINUTE, by);
    await lab.until(112);
    await lab.ends(alert);
    await lab.until(300);
    expect(lab.news("ops/slack/0")).toEqual([
      "50 ops/slack question =one",
      "110 ops/slack question =one",
      "115 ops/slack resolved -one",
    ]);
  });

  it.each([
    ["suppresses nothing", async () => {}],
    ["is short", async (lab: Lab) => void (await lab.silence('alertname=~".+"', 20))],
    [
      "suppresses only what somebody has acknowledged",
      async (lab: Lab) => {
        const alert = await lab.fires("one");
        await lab.silence('alertname=~".+"', 60);
        await lab.ack(alert);
      },
    ],
    [
      "was ended before",
      async (lab: Lab) => {
        const id = await lab.silence('alertname=~".+"', 60);
        await lab.fires("one");
        await lab.until(45);
        await lab.unsilence(id);
      },
    ],
  ])("is not asked about where it %s", async (_, begin) => {
    const lab = labOf();
    await begin(lab);
    await lab.until(70);
    expect(asked(lab)).toEqual([]);
  });
});

const HOW = ["ok", "ok", "killed_after", "killed_before", lost, down] as const;
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("pass" as const), minutes: fc.constantFrom(1, 5, 20, 60) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom("flip" as const, "ack" as const, "undo" as const),
      name: fc.constantFrom("a", "b"),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "silence" as const }) },
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

describeWithRedis("questions over kills and two replicas", () => {
  const testStore = useTestStore();

  /** What was asked, by what it was about: the ETA or the end of the silence. */
  async function played(steps: readonly Step[], hows: readonly (typeof HOW)[number][]) {
    const store = openTestStore(testStore().redis);
    await markStarted(store);
    const lab = new Lab(store, [ops]);
    lab.placesOf = ({ key }) => [to(ops.id, key, { groupWaitMs: 0, groupIntervalMs: MINUTE })];
    lab.deps.isRouted = () => true;
    canBeAsked(lab);
    const questions: string[] = [];
    const next = [...hows];
    lab.how = (_, { reason }) => (reason === "update" ? "ok" : (next.shift() ?? "ok"));
    lab.accepted = async (_, n) => {
      if (n.reason !== "question") return;
      for (const { key, suppressedBy } of n.firing) {
        expect(lab.current.has(key), "it fires").toBe(true);
        const { reason, by, eta, until } = suppressedBy ?? {};
        questions.push(reason === "silenced" ? `${by} ${until}` : `${key} ${eta}`);
        expect((eta ?? (until ?? 0) - 10 * MINUTE) <= lab.now, "not before its time").toBe(true);
      }
      // Another replica is woken meanwhile.
      await lab.deliver(ops.id, lab.anotherReplica());
    };
    for (const one of steps) {
      const alert = "name" in one ? lab.current.get(one.name) : undefined;
      if (one.kind === "pass") await lab.until((lab.now - T0) / MINUTE + one.minutes);
      else if (one.kind === "silence") await lab.silence('alertname=~".+"', (lab.now - T0) / MINUTE + 45);
      else if (one.kind === "flip") await lab.flip(one.name, one.name);
      else if (alert && one.kind === "ack") await acked(lab, alert, (lab.now - T0) / MINUTE + 30);
      else if (alert) await undo(lab, alert);
      lab.now += 1;
    }
    await lab.until((lab.now - T0) / MINUTE + 90);
    return questions;
  }

  it("are asked at their time, of what fires, and each once", async () => {
    const property = fc.asyncProperty(
      fc.array(step, { minLength: 3, maxLength: 14, size: "max" }),
      fc.array(fc.constantFrom(...HOW), { maxLength: 8, size: "max" }),
      async (steps, hows) => {
        const questions = await played(steps, hows);
        const etas = questions.filter((one) => /^[ab] /.test(one));
        expect(etas).toEqual([...new Set(etas)]);
        // Where the alert by which people were asked ends, another one may ask.
        const flips = steps.filter(({ kind }) => kind === "flip").length;
        const silences = questions.filter((one) => !etas.includes(one));
        expect(silences.length - new Set(silences).size).toBeLessThanOrEqual(flips > 1 ? flips - 1 : 0);
      },
    );
    await fc.assert(property, { numRuns: runsOf(20), seed: Number(process.env.LENSWATCH_SEED ?? 20_261_127) });
  });

  it.each(HOW)("are asked where a message is %j", async (how) => {
    const questions = await played(
      [
        { kind: "flip", name: "a" },
        { kind: "pass", minutes: 1 },
        { kind: "ack", name: "a" },
      ],
      ["ok", how],
    );
    expect(questions).toHaveLength(1);
  });
});
