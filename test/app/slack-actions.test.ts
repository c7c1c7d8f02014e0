import { beforeEach, expect, it } from "vitest";
import type { AuditEntry } from "../../src/alerting/audit.ts";
import { matchesAll } from "../../src/alerting/matcher.ts";
import { silenceState } from "../../src/alerting/silence.ts";
import { SlackActions, type SlackIntegration } from "../../src/app/slack-actions.ts";
import { createSuppression } from "../../src/deliver/suppression.ts";
import { createSuppressionChanges } from "../../src/deliver/suppression-changes.ts";
import { slackIds } from "../../src/demo/slack/methods.ts";
import { pressOf, type SlackPerson } from "../../src/demo/slack/socket.ts";
import { createWorkspace } from "../../src/demo/slack/workspace.ts";
import type { Alert } from "../../src/health/alert.ts";
import { NotifyError } from "../../src/notify/notifier.ts";
import { makeBlockId } from "../../src/notify/slack/action-id.ts";
import type { Button } from "../../src/notify/slack/actions.ts";
import { rootRoute } from "../http/serve.ts";
import { changeHead, committer, ends, fires, firing, HOUR, MINUTE, T0, to, useTestStore } from "../store/fixtures.ts";
import { aSilence } from "../support/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";
import { limitsBroken } from "../support/slack/limits.ts";

const NOW = T0 + MINUTE;
const CONVERSATION = "0123456789abcdef";
const SLACK = "ops/slack/0";
const briggate = { location_id: "1", location: "Leeds Briggate" };
const offline = (id: string, labels: Alert["labels"]): Alert => ({
  ...firing(id, T0, labels),
  facts: { timezone: "UTC", problem: "offline" },
});
const entrance = offline("r1", { ...briggate, recording: "Entrance" });
const tills = offline("r2", { ...briggate, recording: "Tills" });
const elsewhere = offline("r3", { location_id: "2", location: "York" });
const workspace = createWorkspace(["ops-cameras", "random"]);
const [ops, random] = workspace.channels;
const integration: SlackIntegration = {
  id: SLACK,
  app: {
    apiBase: "http://slack",
    botToken: "xoxb-1",
    appToken: "xapp-1",
    channel: "#ops-cameras",
    mention: [],
    actions: { allow: "channel" },
  },
};
type Pressing = SlackPerson & Partial<Record<"until" | "reason" | "channel" | "value", string>> & { seen?: number };
const listed = { ...integration, app: { ...integration.app, actions: { allow: ["U0ANA"] } } };

describeWithRedis("a press of a button in Slack", () => {
  const testStore = useTestStore();
  let audited: string[] = [];
  beforeEach(() => {
    audited = [];
  });
  const audit = ({ action, actor }: AuditEntry) =>
    void audited.push(`${action} ${actor.via} ${actor.name} ${actor.person}`);

  /** Stores alerts and the conversation about those of `notified`, in the first channel. */
  async function given(of: { alerts?: Alert[]; notified?: Alert[]; shares?: boolean } = {}) {
    const { alerts = [entrance, tills], notified = alerts, shares = false } = of;
    const group = "g";
    const { redis, store } = testStore();
    const commit = committer(testStore());
    await commit(T0, ...alerts.map((alert) => fires(alert, to(SLACK))));
    const handle = JSON.stringify({ channel: ops?.id, ts: "1.2" });
    const conversation = { id: CONVERSATION, openedAt: T0, handle, ...(shares && { groups: 2 }) };
    await changeHead(testStore(), SLACK, group, { conversation });
    if (shares) await redis.sadd(store.keys.talk(SLACK, CONVERSATION), group);
    for (const alert of notified) {
      const entry = JSON.stringify({ alert, notifiedAt: T0, groupId: group });
      await redis.hset(store.keys.notificationLog(SLACK), alert.id, entry);
      await redis.sadd(store.keys.about(SLACK, CONVERSATION), alert.id);
    }
    return commit;
  }

  /** A replica of its own: what it does is shown and audited. */
  function replica({ integrations = [integration], now = NOW, isMember = async (_: string) => true } = {}) {
    const store = testStore().replica();
    const clock = { now: () => now };
    const shown: string[] = [];
    const buttons: Button[] = [];
    const fields: string[] = [];
    const refused: unknown[] = [];
    const suppression = createSuppression({ clock, store, route: rootRoute, inhibitRules: [] });
    const actions = new SlackActions({
      clock,
      store,
      integrations,
      externalUrl: "https://watch.test",
      changes: createSuppressionChanges({ clock, store, wake: async () => {}, audit }),
      audit: (entry) => void refused.push(entry),
      active: suppression.ofAll,
      teamOf: async () => slackIds.team,
      isMember: async (_app, channel, user) => (channel === ops?.id ? isMember(user) : false),
      tell: async (_app, to, text, below = []) => {
        shown.push(`${to.channel} ${"user" in to ? to.user : to.thread_ts}: ${text}`);
        buttons.push(...below.flatMap((block) => (block.type === "actions" ? block.elements : [])));
        fields.push(...below.flatMap((block) => (block.type === "input" ? block.label.text : [])));
        expect(limitsBroken({ text, blocks: below })).toEqual([]);
      },
    });
    const press = (action: string, by: Pressing = {}, group = "g") => {
      const block_id = makeBlockId(SLACK, group, CONVERSATION, by.seen ?? now) ?? "";
      const blocks = [
        {
          type: "actions",
          block_id,
          elements: [{ type: "button", action_id: action, ...(by.value !== undefined && { value: by.value }) }],
        },
      ];
      const message = workspace.post(ops as never, { text: "x", blocks });
      const { until = "", reason = "works" } = by;
      const typed = { until, reason };
      const payload = pressOf({ ...message, channel: by.channel ?? message.channel }, action, { ...by, typed });
      return actions.act({ type: "interactive", envelope_id: "1", payload }, slackIds.app);
    };
    const last = (action: string) => buttons.findLast(({ action_id }) => action_id === action)?.value ?? "";
    /** Presses the button beside the last answer that had one. */
    const pressUndo = (by: Pressing = {}) => press("undo", { ...by, value: last("undo") });
    return { press, pressUndo, last, shown, refused, buttons, fields };
  }

  async function stored() {
    const store = testStore().replica();
    const acks = await store.acks.read();
    return {
      acked: [...acks].map(([id, { author }]) => `${id} ${author}`).sort(),
      silences: await store.silences.read(NOW),
      audited,
    };
  }
  const ackedBy = (name: string, ...alerts: Alert[]) => alerts.map(({ id }) => `${id} ${name}`).sort();

  it("acknowledges what its conversation was notified of, and nothing else", async () => {
    await given({ alerts: [entrance, tills, elsewhere], notified: [entrance, tills] });
    const { press, shown } = replica();
    await press("acknowledge");
    const { acked, audited } = await stored();
    expect(acked).toEqual(ackedBy("ana", entrance, tills));
    expect(audited).toEqual(["acknowledged slack U0ANA ana", "acknowledged slack U0ANA ana"]);
    expect(shown).toEqual([`${ops?.id} U0ANA: *Leeds Briggate*: acknowledged.`]);
  });

  it("acknowledges and silences all groups of a summary, and says so in its thread, once", async () => {
    await given({ shares: true });
    const { press, shown } = replica();
    for (const action of ["acknowledge", "silence.alerts", "acknowledge", "silence.alerts"])
      await press(action, {}, "storm");
    expect((await stored()).acked).toEqual(ackedBy("ana", entrance, tills));
    expect(shown.filter((one) => one.startsWith(`${ops?.id} 1.2`))).toEqual([
      expect.stringMatching(/1\.2: Acknowledged by ana\.$/),
      expect.stringMatching(/1\.2: \*2 recordings offline: Entrance.*, Tills.*\*: silenced until \S+ \S+ by ana\.$/),
    ]);
  });

  it("changes something once, whoever else presses, and wherever it arrives again", async () => {
    await given({ alerts: [entrance] });
    const [one, other] = [replica(), replica()];
    await Promise.all([
      one.press("acknowledge"),
      other.press("acknowledge", { user: "U0BEN", name: "ben" }),
      one.press("acknowledge"),
    ]);
    await other.press("acknowledge");
    const { acked, audited } = await stored();
    expect(acked).toHaveLength(1);
    expect([...new Set(audited)]).toHaveLength(1);
    const [author] = /\w+$/.exec(acked[0] ?? "") ?? [];
    expect(other.shown.at(-1)).toBe(`${ops?.id} U0ANA: Acknowledged already, by ${author}.`);
  });

  it.each([
    ["1h", NOW + HOUR],
    ["4h", NOW + 4 * HOUR],
    ["", NOW + HOUR],
    [" 08:00 ", Date.parse("2026-03-03T08:00Z")],
    ["tomorrow 07:30", Date.parse("2026-03-03T07:30Z")],
  ])("silences all of the location until %j, once", async (until, endsAt) => {
    await given();
    const [one, other] = [replica(), replica({ now: NOW + 5_000 })];
    const ben = { user: "U0BEN", name: "ben" };
    const press = "silence.places";
    await Promise.all([one.press(press, { until }), other.press(press, { until, ...ben })]);
    await other.press(press, { until });
    const { silences, audited } = await stored();
    expect(silences).toHaveLength(1);
    expect(Math.abs((silences[0]?.endsAt ?? 0) - endsAt)).toBeLessThanOrEqual(5_000);
    expect(silences[0]).toMatchObject({
      comment: "works",
      matchers: [{ name: "location_id", operator: "=", value: "1" }],
    });
    expect([...new Set(audited)]).toHaveLength(1);
    expect(other.shown.at(-1)).toMatch(
      /\*All of Leeds Briggate\*: silenced until .*, already by (?:ana|ben)\. .*status page/,
    );
  });

  it("asks until when, on which clock, and why, and has a button for each scope", async () => {
    await given({ alerts: [{ ...entrance, facts: { ...entrance.facts, timezone: "America/New_York" } }] });
    const { press, shown, fields, buttons } = replica();
    await press("silence");
    expect(shown).toEqual([`${ops?.id} U0ANA: Silence until when, and why?`]);
    expect(fields).toEqual(["Until, in America/New_York (1h where it is empty)", "Reason"]);
    expect(buttons.map(({ action_id, text }) => [action_id, text.text])).toEqual([
      ["silence.alerts", "Silence: This camera (offline)"],
      ["silence.places", "Silence: All of Leeds Briggate"],
    ]);
    await press("silence.alerts", { until: "08:00" });
    expect((await stored()).silences).toMatchObject([{ endsAt: Date.parse("2026-03-02T13:00Z") }]);
  });

  it.each([
    [{ reason: " \n" }, "expected the reason, or a ticket"],
    [{ until: "soon" }, "expected a time such as 2h, 22:00, tomorrow 22:00"],
    [{ until: "2026-01-31 22:00" }, "that time has passed"],
  ])("silences nothing for %j, and says what is expected", async (typed, words) => {
    await given();
    const { press, shown } = replica();
    await press("silence.alerts", typed);
    expect(shown).toEqual([expect.stringContaining(`Not silenced: ${words}`)]);
    expect((await stored()).silences).toEqual([]);
  });

  it("silences one camera of a location, and neither the location nor its other problems", async () => {
    await given({ alerts: [entrance] });
    const { press, shown } = replica();
    await press("silence.alerts", { until: "1h" });
    const [silence, ...others] = (await stored()).silences;
    expect(others).toEqual([]);
    const labels = [entrance.labels, tills.labels, { ...entrance.labels, alertname: "RecordingFlapping" }];
    expect(labels.map((one) => matchesAll(silence?.matchers ?? [], one))).toEqual([true, false, false]);
    expect(shown).toEqual([expect.stringContaining("*Entrance · Leeds Briggate (offline)*: silenced until 09:01")]);
  });

  it("leaves what began after the message was written", async () => {
    const later = { ...tills, firedAt: NOW + 1 };
    await given({ alerts: [entrance, later] });
    await replica({ now: NOW + MINUTE }).press("silence.alerts", { until: "1h", seen: NOW });
    const [silence] = (await stored()).silences;
    expect([entrance, later].map(({ labels }) => matchesAll(silence?.matchers ?? [], labels))).toEqual([true, false]);
  });

  it("says so where only what began later still fires, and silences none of it", async () => {
    const commit = await given({ alerts: [entrance, { ...tills, firedAt: NOW + 1 }] });
    await commit(NOW + 2, ends(entrance, NOW + 2));
    const { press, shown } = replica({ now: NOW + MINUTE });
    await press("silence.alerts", { until: "1h", seen: NOW });
    expect(shown).toEqual([expect.stringContaining("What this message showed does not fire any more")]);
    expect((await stored()).silences).toEqual([]);
  });

  it("silences all of a location where only the alert of the whole location is left", async () => {
    const labels = { ...briggate, alertname: "LocationOffline" };
    const facts = { timezone: "UTC", problem: "location_offline" } as const;
    const whole: Alert = { ...firing("l1", T0), labels, facts, subject: { kind: "location", id: "1" } };
    const commit = await given({ alerts: [entrance, whole] });
    await commit(NOW, ends(entrance, NOW));
    const { press, shown } = replica();
    await press("silence.places", { until: "1h" });
    expect(shown[0]).toContain("*All of Leeds Briggate*: silenced until");
  });

  it("silences for longer where that is asked for, and again after the first silence is over", async () => {
    await given();
    await replica().press("silence.alerts", { until: "1h" });
    await replica().press("silence.alerts", { until: "4h" });
    await replica({ now: NOW + 5 * HOUR }).press("silence.alerts", { until: "1h" });
    const ends = (await stored()).silences.map(({ endsAt }) => (endsAt - NOW) / HOUR);
    expect(ends.sort()).toEqual([1, 4, 6]);
  });

  it("silences all locations of a conversation in one silence, and names them", async () => {
    await given({ alerts: [entrance, elsewhere] });
    const { press, shown } = replica();
    await press("silence.places", { until: "1h" });
    expect((await stored()).silences).toMatchObject([{ matchers: [{ operator: "=~", value: "1|2" }] }]);
    expect(shown[0]).toContain("*All of 2 locations (Leeds Briggate, York)*: silenced until");
  });

  it("names the camera servers that it silences", async () => {
    const servers = ["edge-7", "edge-8"].map((name): Alert => {
      const labels = { alertname: "CameraServerOffline", camera_server: name };
      const facts = { timezone: "UTC", problem: "camera_server_offline" } as const;
      return { ...firing(name, T0), labels, facts, subject: { kind: "group", id: `camera_server/${name}` } };
    });
    await given({ alerts: servers });
    const { press, shown } = replica();
    await press("silence.alerts", { until: "1h" });
    expect(shown[0]).toContain(
      "*2 camera servers offline: Camera server edge-7, Camera server edge-8*: silenced until",
    );
    expect((await stored()).silences).toMatchObject([
      { matchers: [{ name: "camera_server", value: "edge-7|edge-8" }] },
    ]);
  });

  it("undoes what it silenced, by those who may, and leaves a silence that was there before", async () => {
    await given();
    const { press, pressUndo, shown } = replica({ integrations: [listed] });
    await press("silence.places", { until: "4h" });
    await press("silence.alerts", { until: "1h" });
    await pressUndo({ user: "U0BEN", name: "ben" });
    expect(shown.at(-1)).toContain("Only <@U0ANA> may do this");
    await pressUndo();
    expect(shown.at(-1)).toContain("Undone");
    const now = NOW + 1;
    const active = (await stored()).silences.filter((one) => silenceState(one, now) === "active");
    expect(active).toMatchObject([{ endsAt: NOW + 4 * HOUR }]);
    await press("silence.alerts", { until: "1h" });
    expect((await stored()).silences.filter((one) => silenceState(one, now) === "active")).toHaveLength(2);
  });

  it("undoes what it acknowledged, once, and neither what others did nor what came before", async () => {
    await given({ alerts: [entrance, tills, elsewhere] });
    const before = createSuppressionChanges({
      clock: { now: () => NOW - 1 },
      store: testStore().store,
      wake: async () => {},
    });
    const origin = { actor: { via: "slack", name: "U0ANA", person: "ana" } } as const;
    await before.acknowledgeEach([entrance], { author: "ana", comment: "by the page" }, origin);
    const { press, last, shown } = replica();
    await press("acknowledge");
    const value = last("undo.acknowledgement");
    await press("undo.acknowledgement", { value, user: "U0BEN", name: "ben" });
    expect(shown.at(-1)).toContain("Only your own change of the last 15 minutes is undone");
    expect((await stored()).audited).not.toContainEqual(expect.stringContaining("ben"));
    const late = replica({ now: NOW + 15 * MINUTE });
    await late.press("undo.acknowledgement", { value });
    expect(late.shown.at(-1)).toContain("Only your own change of the last 15 minutes is undone");
    await before.acknowledgeEach([elsewhere], { author: "ben", comment: "mine now" }, origin);
    await press("undo.acknowledgement", { value });
    expect(shown.at(-1)).toBe(`${ops?.id} U0ANA: Undone: what still fires is notified again.`);
    const acks = await testStore().store.acks.read();
    const inForce = [...acks]
      .filter(([, { until = Infinity }]) => until > NOW)
      .map(([id, { author }]) => `${id} ${author}`);
    expect(inForce.sort()).toEqual([`${entrance.id} ana`, `${elsewhere.id} ben`].sort());
    await press("undo.acknowledgement", { value });
    expect(shown.at(-1)).toContain("Nothing was changed");
  });

  it.each([
    ["is acknowledged", [entrance, tills], "Undone. Still acknowledged by ana: nothing is notified now."],
    [
      "is acknowledged in part",
      [entrance],
      "Undone: what still fires is notified again, except what is still acknowledged by ana.",
    ],
    ["is not acknowledged", [], "Undone: what still fires is notified again."],
  ])("says what an undone silence releases where it %s", async (_, acked, text) => {
    await given();
    const { press, pressUndo, shown } = replica();
    await press("silence.places", { until: "1h" });
    await createSuppressionChanges({
      clock: { now: () => NOW },
      store: testStore().store,
      wake: async () => {},
    }).acknowledgeEach(acked, { author: "ana", comment: "" }, { actor: { via: "slack", name: "ana" } });
    for (const _ of ["once", "twice"]) {
      await pressUndo();
      expect(shown.at(-1)).toBe(`${ops?.id} U0ANA: ${text}`);
    }
  });

  it("says that what it undoes is still silenced where another silence is in force", async () => {
    await given();
    const { press, pressUndo, shown } = replica();
    await press("silence.places", { until: "4h" });
    await press("silence.alerts", { until: "1h" });
    await pressUndo();
    expect(shown.at(-1)).toContain("Undone. Still silenced: nothing is notified now.");
  });

  it("extends what it silenced, however often that is pressed, and undoes that once", async () => {
    await given();
    const { press, pressUndo, last, shown } = replica();
    await press("silence.places", { until: "1h" });
    const [extending, morning] = [last("extend"), last("extend.morning")];
    for (const _ of ["once", "twice"]) await press("extend", { value: extending });
    expect(shown.at(-1)).toContain("Silence extended until 10:01 UTC.");
    expect((await stored()).silences).toMatchObject([{ endsAt: NOW + 2 * HOUR }]);
    await pressUndo();
    expect(shown.at(-1)).toContain("Undone: silenced until 09:01 UTC.");
    await pressUndo();
    expect(shown.at(-1)).toContain("only a change of the last 15 minutes is undone");
    expect((await stored()).silences).toMatchObject([{ endsAt: NOW + HOUR }]);
    await press("extend.morning", { value: morning });
    expect(shown.at(-1)).toContain("Silence extended until Tue 3 Mar 08:00 UTC.");
    await pressUndo();
    const [, ...ids] = extending.split(" ");
    for (const value of [`${(NOW + 60 * HOUR).toString(36)} ${ids.join(" ")}`, "zz other", "", `- ${ids.join(" ")}`]) {
      await press("extend", { value });
      expect(shown.at(-1)).toContain("nothing was changed");
    }
    expect((await stored()).silences).toMatchObject([{ endsAt: NOW + HOUR }]);
  });

  it("undoes and extends nothing that somebody has changed since", async () => {
    await given({ alerts: [{ ...entrance, facts: { ...entrance.facts, timezone: "America/New_York" } }] });
    const { press, pressUndo, last, shown } = replica();
    await press("silence.places", { until: "1h" });
    const later = replica({ now: NOW + MINUTE });
    await later.press("extend", { value: last("extend"), user: "U0BEN", name: "ben" });
    await pressUndo();
    expect(shown.at(-1)).toContain("Nothing was changed");
    expect((await stored()).silences).toMatchObject([{ endsAt: NOW + 2 * HOUR }]);
    await later.press("extend.morning", { value: later.last("extend.morning"), user: "U0BEN", name: "ben" });
    await press("extend", { value: last("extend") });
    expect(shown.at(-1)).toContain("lasts longer already: nothing was changed");
    await later.pressUndo();
    expect(later.shown.at(-1)).toContain("Undone: silenced until 05:01 EST");
  });

  it("says that a silence of the service is of later outages too, and hides camera alerts meanwhile", async () => {
    const labels = { alertname: "ServiceUnreachable" };
    const facts = { timezone: "UTC", problem: "service_unreachable" } as const;
    await given({ alerts: [{ ...firing("s1", T0), labels, facts, subject: { kind: "service", id: "analytics" } }] });
    const { press, shown } = replica();
    for (const _ of ["set", "already"]) {
      await press("silence.alerts", { until: "08:00" });
      expect(shown.at(-1)).toMatch(/\*Service unreachable\*: silenced until Tue 3 Mar 08:00 UTC[.,]/);
      expect(shown.at(-1)).toContain(
        ". Later outages of the service until then are silenced too, and no camera alert is sent while the service is unreachable.",
      );
    }
  });

  it("offers no undo where somebody else had silenced it, and ends no silence that was not set here", async () => {
    await given();
    const id = "0b1c2d3e-0000-4000-8000-000000000000";
    await testStore().store.silences.write([aSilence({ id, startsAt: T0, endsAt: NOW + HOUR })], T0);
    await replica().press("silence.places", { until: "1h" });
    const { press, buttons, shown } = replica();
    await press("silence.places", { until: "1h" });
    expect(buttons).toEqual([]);
    await press("undo", { value: `${id} nonsense` });
    expect(shown.at(-1)).toContain("not known any more");
    expect((await stored()).silences.every((one) => silenceState(one, NOW + 1) === "active")).toBe(true);
  });

  it("shows why to the one who asks, each decision once with the name of its subject", async () => {
    const slow = firing("slow", T0, { ...briggate, recording: "Entrance" });
    await given({ alerts: [entrance, tills, { ...slow, subject: entrance.subject }] });
    const { press, shown } = replica();
    await press("why");
    expect(shown).toEqual([`${ops?.id} U0ANA: No decisions about *Leeds Briggate* in the last week.`]);
    const line = { ruleId: "RecordingOffline", at: T0, reason: "firing" };
    const lines = [entrance, tills].map(({ subject }) => ({ ...line, subject }));
    await testStore().store.log.write(lines);
    await press("why");
    expect(shown[1]?.split("\n").slice(1).sort()).toEqual([
      "Entrance · RecordingOffline: 08:00 UTC fires",
      "Tills · RecordingOffline: 08:00 UTC fires",
    ]);
  });

  it.each(["acknowledge", "silence", "silence.alerts", "why"])(
    "changes nothing by %s once it is over",
    async (action) => {
      const commit = await given();
      await commit(NOW, ends(entrance, NOW), ends(tills, NOW));
      const { press, shown } = replica();
      await press(action);
      expect(shown).toEqual([expect.stringContaining("This is over")]);
      expect(await stored()).toEqual({ acked: [], silences: [], audited: [] });
    },
  );

  it.each(["acknowledge", "silence", "silence.alerts", "why"])(
    "says by %s that it does not know a message, never that it is over",
    async (action) => {
      await given();
      await changeHead(testStore(), SLACK, "g", { conversation: undefined });
      await testStore().redis.del(testStore().store.keys.about(SLACK, CONVERSATION));
      const { press, shown } = replica();
      await press(action);
      await press(action, {}, "storm");
      // Of a Redis that was emptied since.
      await press(action, { seen: 1 }, "started");
      const text =
        "lenswatch does not know this message any more. Nothing was changed. What fires now: <https://watch.test/";
      expect(shown).toEqual(Array(3).fill(expect.stringContaining(text)));
      expect(await stored()).toEqual({ acked: [], silences: [], audited: [] });
    },
  );

  it.each([
    ["of another workspace", { team: "T0OTHER" }, "other_channel"],
    ["of another app", { app: "A0OTHER" }, "other_channel"],
    ["from another channel", { channel: random?.id ?? "" }, "other_channel"],
    ["by somebody who is not listed", { user: "U0BEN" }, "not_allowed"],
  ])("is refused %s", async (_, by, reason) => {
    await given();
    const { press, shown, refused } = replica({ integrations: [listed] });
    for (const action of ["acknowledge", "silence.alerts"]) await press(action, by);
    expect(refused).toMatchObject([
      { action: "refused", outcome: "refused", target: "Slack: acknowledge", reason, actor: { via: "slack" } },
      { target: "Slack: silence.alerts", reason },
    ]);
    expect(shown[0]).toContain(reason === "not_allowed" ? "Only <@U0ANA> may" : "Only people in #ops-cameras may");
    expect(await stored()).toEqual({ acked: [], silences: [], audited: [] });
  });

  it("shows why to everybody in the channel, whoever may change something", async () => {
    await given();
    const isMember = async (user: string) => user === "U0BEN";
    const { press, shown, refused } = replica({ integrations: [listed], isMember });
    await press("why", { user: "U0BEN" });
    expect(shown).toEqual([expect.stringContaining("No decisions about")]);
    await press("why", { user: "U0EVE" });
    expect(shown[1]).toContain("Only people in #ops-cameras may do this");
    expect(refused).toMatchObject([{ target: "Slack: why", reason: "other_channel" }]);
  });

  it.each(["acknowledge", "silence", "silence.alerts", "why", "undo", "undo.acknowledgement"])(
    "refuses %s to somebody who is not in the channel",
    async (action) => {
      await given();
      const { press, shown, refused } = replica({ isMember: async () => false });
      await press(action);
      expect(shown).toEqual([expect.stringContaining("Only people in #ops-cameras may do this")]);
      expect(refused).toMatchObject([{ reason: "other_channel" }]);
      expect(await stored()).toEqual({ acked: [], silences: [], audited: [] });
    },
  );

  it("refuses everybody who is not listed where the members cannot be read, and says what to do", async () => {
    await given();
    const lacking = async () => {
      const message = "Slack answered missing_scope: add the scope channels:read to the app and install it again.";
      throw new NotifyError("auth", message, { retryable: true, scope: "endpoint" });
    };
    const { press, shown, refused } = replica({ isMember: lacking });
    await press("acknowledge");
    expect(shown[0]).toMatch(/cannot be read: .*add the scope channels:read.* Nothing was changed\.$/);
    expect(refused).toHaveLength(1);
    expect((await stored()).acked).toEqual([]);
    await replica({ integrations: [listed], isMember: lacking }).press("acknowledge");
    expect((await stored()).acked).toEqual(ackedBy("ana", entrance, tills));
  });

  it("does nothing for a link, for ids that are not ours, and for an integration that is gone", async () => {
    await given();
    const { press, shown } = replica();
    await press("open");
    await press("runbook");
    await press("acknowledge", {}, "no group\n");
    const gone = replica({ integrations: [{ ...integration, id: "else" }] });
    await gone.press("acknowledge");
    expect(shown).toEqual([]);
    expect(gone.shown[0]).toContain("not configured any more");
    expect((await stored()).acked).toEqual([]);
  });

  it("names a recording once, without its location in it", async () => {
    await given({ alerts: [firing("r9", T0, { ...briggate, recording: "Leeds Briggate Door" })] });
    const { press, shown } = replica();
    await press("why");
    expect(shown[0]).toContain("*Door · Leeds Briggate*");
  });

  it("shows hostile names as text, and no more than a message holds", async () => {
    const labels = { location_id: "9", location: "<!channel> *x* </lenswatch|y>" };
    const many = Array.from({ length: 60 }, (_, i) =>
      firing(`h${i}`, T0, { ...labels, location: `${labels.location} ${i}`, location_id: `${i}` }),
    );
    await given({ alerts: many });
    const { shown, press } = replica();
    await press("why");
    for (const action of ["silence", "silence.alerts", "silence.places"]) await press(action, { name: "<!here> ana" });
    for (const answer of shown) expect(answer.length).toBeLessThan(4_000);
    expect(shown.join()).not.toMatch(/<[!@#](?!U0|C0)/);
  });
});
