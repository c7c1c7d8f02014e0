/** What is suppressed, for how long, and what is owed afterwards, over the store's scripts. T0 is 08:00 UTC. */
import { expect, it } from "vitest";
import { parseMatchers } from "../../src/alerting/matcher.ts";
import type { Alert } from "../../src/health/alert.ts";
import { configOf, receivers, service } from "../config/text.ts";
import { HOUR, integration, MINUTE, SECOND, T0, to } from "../store/fixtures.ts";
import { aStart } from "../support/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";
import { by, down, type Lab, useLab } from "./lab.ts";

const ops = integration("ops/slack/0");
const { inhibitRules } = configOf(service + receivers);
const timeOf = (from: number, until: number) => ({ times: [{ from, to: until }], location: "UTC" });

describeWithRedis("an alert that another one inhibits", () => {
  const labOf = useLab(ops);
  const WAITS = ["before it is claimed", "after it is claimed"] as const;

  function inhibited(): Lab {
    const lab = labOf();
    lab.inhibitRules = inhibitRules;
    lab.placesOf = ({ key }) => [to(ops.id, key, { groupWaitMs: 0, groupIntervalMs: SECOND })];
    return lab;
  }

  async function turns(lab: Lab, passMs = 0): Promise<void> {
    await lab.pass(passMs);
    for (let turn = 0; turn < 4; turn++) {
      await lab.deliver(ops.id);
      await lab.pass(2 * SECOND);
    }
  }

  const said = (lab: Lab) =>
    lab.log
      .splice(0)
      .map(({ n }) =>
        [
          ...n.firing.map(
            ({ subject, standsFor }) => `+${subject.id}${standsFor ? ` for ${standsFor.recordings}` : ""}`,
          ),
          ...n.resolved.map(({ subject, isNew }) => `-${subject.id}${isNew ? " late" : ""}`),
        ].join(" "),
      );

  /** At the first turn the endpoint was used a moment ago, and `meanwhile` happens. */
  function waiting(lab: Lab, waits: (typeof WAITS)[number], meanwhile: () => Promise<void>): void {
    let waited = false;
    async function wait<T>(reply: T): Promise<T> {
      if (!waited) await meanwhile();
      waited = true;
      await lab.pass(40);
      return reply;
    }
    lab.groups.claim = async (...args) => {
      if (waits !== "before it is claimed" || waited) return lab.store.groups.claim(...args);
      return wait({ kind: "pace", until: lab.now + 20 } as const);
    };
    lab.groups.pace = async () => (waits === "after it is claimed" && !waited ? wait(20) : 0);
  }

  it.each(WAITS)("while it waits for the pace, %s, is not notified of, then or later", async (waits) => {
    const lab = inhibited();
    const camera = await lab.fires("cam");
    let location: Alert | undefined;
    waiting(lab, waits, async () => {
      location = await lab.location("1");
    });
    await turns(lab);
    expect(said(lab)).toEqual(["+1 for 1"]);
    await lab.ends(camera);
    await turns(lab, HOUR);
    await lab.ends(location as unknown as Alert);
    await turns(lab, HOUR);
    expect(said(lab)).toEqual(["-1"]);
  });

  it.each(WAITS)("is late, once, where both were over before its turn came, %s: nobody knows of it", async (waits) => {
    const lab = inhibited();
    const camera = await lab.fires("cam");
    waiting(lab, waits, async () => {
      const location = await lab.location("1");
      lab.now += 15;
      await lab.ends(camera);
      await lab.ends(location);
    });
    await turns(lab);
    await turns(lab, HOUR);
    expect(said(lab).sort()).toEqual(["-1 late", "-cam late"]);
  });

  it("is not sent as firing where both are over while it is decided again", async () => {
    const lab = inhibited();
    const camera = await lab.fires("cam");
    lab.now += 5;
    const location = await lab.location("1");
    let isOver = false;
    lab.groups.claim = async (...args) => {
      const claim = await lab.store.groups.claim(...args);
      if (isOver || lab.log.length === 0 || claim.kind !== "group" || claim.group !== "cam") return claim;
      isOver = true;
      await lab.endAll([camera, location], T0 + SECOND);
      return claim;
    };
    await turns(lab);
    await turns(lab, HOUR);
    expect([isOver, said(lab)]).toEqual([true, ["+1 for 1", "-1"]]);
  });

  const server = (lab: Lab): Promise<Alert> =>
    lab.fires("edge-7", "", {
      key: "CameraServerOffline/group/camera_server/edge-7",
      id: `CameraServerOffline/group/camera_server/edge-7@${lab.now}`,
      ruleId: "CameraServerOffline",
      labels: { alertname: "CameraServerOffline", camera_server: "edge-7" },
      subject: { kind: "group", id: "camera_server/edge-7" },
      facts: { timezone: "UTC", problem: "camera_server_offline", offline: 10, of: 10 },
    });

  it("is not ended or repeated where it was notified before, and is notified once when the other one ends", async () => {
    const lab = inhibited();
    const labels = { camera_server: "edge-7" };
    const [a, b, c] = [
      await lab.fires("a", "a", { labels }),
      await lab.fires("b", "b", { labels }),
      await lab.fires("c", "c", { labels }),
    ];
    await turns(lab);
    expect(said(lab).sort()).toEqual(["+a", "+b", "+c"]);
    lab.now = T0 + MINUTE;
    const [source, late] = [await server(lab), await lab.fires("late", "late", { labels })];
    await turns(lab, MINUTE);
    expect(said(lab)).toEqual(["+camera_server/edge-7 for 4"]);
    await turns(lab, HOUR);
    expect(said(lab)).toEqual([]);
    await lab.ends(a);
    await lab.ends(source);
    await turns(lab, HOUR);
    await turns(lab, MINUTE);
    expect(said(lab).sort()).toEqual(["+late", "-a", "-camera_server/edge-7"]);
    for (const one of [b, c, late]) await lab.ends(one);
    await turns(lab, HOUR);
    expect(said(lab).sort()).toEqual(["-b", "-c", "-late"]);
  });

  // The first is the control: the recordings end before their server.
  it.each([-5, 5, 60])(
    "is in two messages with it, where the recordings of a server end %i s after it",
    async (gapS) => {
      const lab = labOf();
      lab.inhibitRules = inhibitRules;
      const all = [await server(lab)];
      for (let i = 0; i < 10; i++)
        all.push(await lab.fires(`r${i}`, `${i % 5}`, { labels: { camera_server: "edge-7" } }));
      await lab.until(20);
      const back = lab.now;
      const clearing: Alert[] = [];
      for (const one of all) clearing.push(await lab.update(one, { clearing: true }));
      await lab.until(25);
      const both = [clearing.slice(0, 1), clearing.slice(1)];
      const [first = [], second = []] = gapS < 0 ? both.reverse() : both;
      for (const one of first) await lab.ends(one, back);
      await lab.until(25 + Math.abs(gapS) / 60);
      for (const one of second) await lab.ends(one, back);
      await lab.until(60);
      expect(lab.lines()).toHaveLength(2);
    },
  );

  it("by an unreachable service is notified of at its end, though over when the service was back", async () => {
    const lab = labOf();
    lab.inhibitRules = inhibitRules;
    const labels = { alertname: "ServiceUnreachable" };
    const unreachable = await lab.fires("service", "", { labels, subject: { kind: "service", id: "service" } });
    const clearing = await lab.fires("a");
    await lab.until(20);
    const alert = await lab.update(clearing, { clearing: true });
    const back = lab.now;
    await lab.ends(unreachable);
    await lab.until(25);
    await lab.ends(alert, back);
    await lab.until(60);
    expect(lab.lines().at(-1)).toMatch(/resolved ±a$/);
  });
});

describeWithRedis("a mute time", () => {
  const labOf = useLab(ops);
  it.each([1, 3, 10, 15])(
    "of %i hours: what still fires is sent when it ends, with a group_interval of 6 h",
    async (hours) => {
      const day = { name: "day", intervals: [timeOf(480, 480 + hours * 60)] };
      const lab = labOf({ groupIntervalMs: 6 * HOUR, muteTimes: [day] });
      await lab.until(10);
      await lab.fires("a");
      await lab.until(20 * 60);
      expect(((lab.log[0]?.at ?? 0) - T0) / HOUR).toBe(hours);
    },
  );
});

describeWithRedis("a cold start inside a mute time", () => {
  const labOf = useLab(ops);
  it("is summed for a receiver once not every route to it is muted", async () => {
    const [early, late] = [
      { name: "early", intervals: [timeOf(0, 540)] },
      { name: "late", intervals: [timeOf(0, 600)] },
    ];
    const lab = labOf({ muteTimes: [late] });
    const other = { ...lab.route, key: "other", matchers: parseMatchers("recording_id=b"), muteTimes: [early] };
    lab.route = { ...lab.route, routes: [other] };
    const all = [await lab.fires("a"), await lab.fires("b")];
    await lab.beginCold();
    await lab.store.coldStart.sum(
      [ops.id],
      all.map(({ id }) => id),
      aStart,
      lab.now,
    );
    await lab.until(3 * 60);
    expect(lab.lines()).toEqual([
      expect.stringMatching(/^60(\.\d+)? ops\/slack started \+b$/),
      expect.stringMatching(/^120 ops\/slack \w+ \+a( =b)?$/),
    ]);
  });
});

describeWithRedis("a silence that is extended while it suppresses an alert", () => {
  const labOf = useLab(ops);
  it("suppresses it until its new end, and is the same silence", async () => {
    const lab = labOf();
    const id = await lab.silence('location_id="1"', 10);
    await lab.fires("a");
    await lab.until(9);
    const changes = lab.changes();
    expect(await changes.extendSilence(id, T0 + 60 * MINUTE, by)).toBe(true);
    expect(await changes.extendSilence(id, T0 + 30 * MINUTE, by)).toBe(true);
    await lab.until(59);
    expect(lab.lines()).toEqual(["50 ops/slack question =a"]);
    expect(await changes.silences()).toMatchObject([{ id, startsAt: T0, endsAt: T0 + 60 * MINUTE }]);
    await lab.until(62);
    expect(lab.lines()).toHaveLength(2);
    expect(await changes.extendSilence(id, T0 + 90 * MINUTE, by)).toBe(false);
  });
});

describeWithRedis("a silence that is shortened while a decision is under way", () => {
  const labOf = useLab(ops);
  it("lets its alerts be sent at its new end", async () => {
    const lab = labOf();
    const id = await lab.silence("recording_id=a", 60);
    await lab.fires("a");
    let isShortened = false;
    lab.deps.suppressions = async (...asked) => {
      const found = await lab.suppression().ofGroups(...asked);
      if (!isShortened) await lab.silence("recording_id=a", 2, 0, id);
      isShortened = true;
      return found;
    };
    await lab.until(10);
    expect(lab.lines()).toEqual(["2 ops/slack first +a"]);
  });
});

describeWithRedis("an alert that is over while the message about another one is retried", () => {
  const labOf = useLab(ops);
  it.each(["silenced", "acknowledged"])("is not sent where it was %s at its end", async (how) => {
    const lab = labOf();
    const a = await lab.fires("a");
    await lab.until(0.2);
    if (how === "acknowledged") await lab.ack(a, 20 * MINUTE);
    else await lab.silence("recording_id=a", 60);
    await lab.until(10);
    lab.how = () => (lab.minute() < 25 ? down : "ok");
    await lab.fires("b");
    await lab.until(11);
    await lab.ends(a);
    await lab.until(60);
    expect(lab.news()).toEqual([expect.stringMatching(/first \+b$/)]);
  });
});

describeWithRedis("the decision log of an alert that is silenced for hours", () => {
  const labOf = useLab(ops);
  it("is one line at the integration, and one more where storing failed, which is not shown", async () => {
    const lab = labOf();
    lab.placesOf = ({ key }) => [to(ops.id, key, { groupWaitMs: 0, groupIntervalMs: 5 * MINUTE })];
    const written: (readonly string[])[] = [];
    let fails = false;
    lab.groups.settle = async (...args) => {
      const lines = args[2].flatMap((one) => ("settle" in one ? (one.settle.lines ?? []) : []));
      written.push(lines.map(({ reason }) => reason));
      if (fails) throw new Error("no answer");
      return lab.store.groups.settle(...args);
    };
    await lab.silence("location_id=1", 6 * 60);
    await lab.fires("cam");
    await lab.until(3 * 60);
    expect(written.length).toBeGreaterThan(30);
    expect(written.flat()).toEqual(["silenced"]);
    fails = true;
    lab.now += 5 * MINUTE;
    await lab.deliver(ops.id);
    fails = false;
    await lab.endLease(ops.id);
    await lab.until(6 * 60 - 1);
    expect(written.flat()).toEqual(["silenced", "silenced"]);
    const lines = await lab.store.log.read([{ kind: "recording", id: "cam" }], 0);
    expect(lines).toMatchObject([{ at: T0, reason: "silenced" }]);
    await lab.until(6 * 60 + 10);
    expect(written.flat()).toEqual(["silenced", "silenced", "notified"]);
  });
});

describeWithRedis("maintenance", () => {
  const labOf = useLab(ops);
  const matchers = parseMatchers("location_id=1");
  const windows = [
    { name: "stock-take", matchers, timeIntervals: [{ name: "morning", intervals: [timeOf(540, 600)] }], comment: "" },
  ];

  /** From minute 60 to 120, with `repeat_interval` 30 m. */
  function planned(): Lab {
    const lab = labOf({ groupBy: ["recording_id"], groupWaitMs: 0, repeatIntervalMs: 30 * MINUTE });
    lab.maintenance = windows;
    return lab;
  }

  it("what still fires is notified when the window ends, to the millisecond; what ended meanwhile never is", async () => {
    const lab = planned();
    await lab.until(60);
    const brief = await lab.fires("brief");
    await lab.until(61);
    await lab.fires("lasting");
    await lab.until(80);
    await lab.ends(brief);
    await lab.until(130);
    expect(lab.lines()).toEqual(["120 ops/slack first +lasting"]);
    expect(lab.log[0]?.at).toBe(T0 + 2 * HOUR);
    expect(new Set(lab.reports.filter((one) => one.startsWith("suppressed")))).toEqual(
      new Set(["suppressed maintenance", "suppressed resolved_before_notified"]),
    );
  });

  it("what was notified before is not repeated inside, its end is sent, and reminders go on afterwards", async () => {
    const lab = planned();
    await lab.fires("one");
    const two = await lab.fires("two");
    await lab.until(100);
    await lab.ends(two);
    await lab.until(130);
    const lines = lab.lines().map((line) => line.replace(" ops/slack", ""));
    expect([...lines.slice(0, 2).sort(), ...lines.slice(2, 4).sort(), ...lines.slice(4)]).toEqual([
      "0 first +one",
      "0 first +two",
      "30 reminder =one",
      "30 reminder =two",
      "100 resolved -two",
      "120 reminder =one",
    ]);
  });

  it("one that a reload takes away suppresses no longer, one that it adds does from then on", async () => {
    const lab = planned();
    await lab.until(60);
    await lab.fires("one");
    await lab.until(61);
    lab.maintenance = [];
    await lab.until(66);
    lab.maintenance = windows;
    await lab.until(130);
    expect(lab.lines()).toEqual(["65 ops/slack first +one", "120 ops/slack reminder =one"]);
  });
});

describeWithRedis("an outage that was over before the decision to suppress it was", () => {
  const labOf = useLab(ops);
  /** From 08:00 to 09:00. */
  const window = { name: "stock-take", intervals: [timeOf(0, 540)] };

  /** An outage of 08:05 to `overAt`, and `keep_firing_for: 5m`; suppressed until 09:00. */
  async function played(how: string, overAt: number): Promise<string[]> {
    const lab = labOf(how === "a mute time" ? { muteTimes: [window] } : {});
    const planned = { matchers: parseMatchers("location_id=1"), timeIntervals: [window] };
    if (how === "a maintenance window") lab.maintenance = [{ name: "stock-take", ...planned, comment: "" }];
    const id = how.startsWith("a silence")
      ? await lab.silence("location_id=1", how.includes("by hand") ? 600 : 60)
      : "";
    await lab.until(5);
    const fired = await lab.fires("a");
    if (how.startsWith("an acknowledgement")) await lab.ack(fired, how.includes("withdrawn") ? undefined : 55 * MINUTE);
    const release = async () => {
      if (how.includes("by hand")) await lab.unsilence(id);
      if (how.includes("withdrawn")) await lab.withdraw(fired);
    };
    await lab.until(Math.min(overAt, 60));
    if (overAt >= 60) await release();
    await lab.until(overAt);
    const alert = await lab.update(fired, { clearing: true });
    const back = lab.now;
    await lab.until(Math.max(overAt, 60));
    if (overAt < 60) await release();
    await lab.until(overAt + 5);
    await lab.ends(alert, back);
    await lab.until(90);
    return lab.lines();
  }

  const decisions = [
    "a maintenance window",
    "a mute time",
    "a silence",
    "a silence ended by hand",
    "an acknowledgement for a while",
    "an acknowledgement that is withdrawn",
  ];
  // What was asked about ends for those who were asked.
  const asked = "50 ops/slack question =a";
  it.each(decisions)("is not notified of: %s", async (how) => {
    expect(await played(how, 58)).toEqual(how === "a silence" ? [asked, "63 ops/slack resolved -a"] : []);
  });
  it.each(decisions)("is notified of where it outlasted it: %s", async (how) => {
    const before = how === "a silence" ? [asked, "60 ops/slack more +a"] : ["60 ops/slack first +a"];
    expect(await played(how, 61)).toEqual([...before, "66 ops/slack resolved -a"]);
  });
});

describeWithRedis("an alert about the service", () => {
  const labOf = useLab(ops);
  it.each([
    ["group_by: []", { groupBy: [] }, 2],
    ["a storm", { stormGroups: 2 }, 5],
    ["a storm of one group", { groupBy: [], stormGroups: 1 }, 2],
  ] as const)("has a message of its own, never one with recordings, with %s", async (_, more, cameras) => {
    const lab = labOf(more);
    const fired = await lab.fireAll(Array.from({ length: cameras }, (_, i) => `cam-${i}`));
    const unreachable = await lab.fires("service", "", {
      key: "ServiceUnreachable/service/analytics",
      id: "ServiceUnreachable/service/analytics@0",
      subject: { kind: "service", id: "analytics" },
      labels: { alertname: "ServiceUnreachable", severity: "critical" },
      facts: { timezone: "UTC", problem: "service_unreachable" },
    });
    await lab.until(2);
    await lab.ends(unreachable);
    for (const one of fired.slice(1)) await lab.ends(one);
    await lab.until(10);
    const kindsIn = ({ n }: (typeof lab.log)[number]) =>
      new Set([...n.firing, ...n.resolved].map(({ subject }) => subject.kind));
    expect(lab.log.filter((one) => kindsIn(one).size > 1).map((one) => lab.line(one))).toEqual([]);
    expect(lab.titles()).toContain("Analytics service unreachable");
    expect(lab.titles()).toContain("Analytics service recovered — after 2 m");
  });
});
