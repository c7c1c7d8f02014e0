import { describe, expect, test } from "vitest";
import type { Attempt } from "../../src/health/attempt.ts";
import type { IntegrationHealth, SelfEvidence } from "../../src/health/evaluate-self.ts";
import type { Rule } from "../../src/health/model.ts";
import { FleetStory } from "./fleet-story.ts";
import { INTERVAL, MINUTE, rule, START } from "./shard-history.ts";

const unreachable = (more: Partial<Rule> = {}) =>
  rule("ServiceUnreachable", { kind: "service", state: "unreachable" }, more);
const partly = (more: Partial<Rule> = {}) =>
  rule("ServicePartlyUnreachable", { kind: "service", state: "partly_unreachable" }, more);
const failingRule = (more: Partial<Rule> = {}) =>
  rule("NotificationsFailing", { kind: "notifications", state: "failing" }, more);

const DAY = 24 * 60 * MINUTE;
const DOWN = "service/analytics";

describe("the service's own health check", () => {
  const detailOf = (health: (story: FleetStory) => Attempt | undefined, rule = unreachable()) => {
    const story = new FleetStory(rule);
    const other = () =>
      rule.when.kind === "service" && rule.when.state === "unreachable" ? story.bad() : story.good();
    story.tick(() => ({ shards: [story.bad(), other()], health: health(story) }));
    return { detail: story.alert.facts.detail, description: story.alert.annotations.description };
  };

  test.each<[string, (story: FleetStory) => Attempt | undefined, RegExp]>([
    [
      "passes",
      (story) => story.good(),
      /^The service did not answer\. It calls itself healthy \(GET \/v1\/status\)\.$/,
    ],
    [
      "fails",
      (story) => ({ ...story.bad(), error: "Closed." }),
      /^The .* answer\. Its own health check fails too: Closed\.$/,
    ],
    ["was not asked", () => undefined, /^The service did not answer\.$/],
    ["was asked long ago", () => ({ goodAt: START - 60 * MINUTE, attemptedAt: START - 60 * MINUTE }), /answer\.$/],
  ])("is in the message of an unreachable service where it %s", (_, health, wanted) => {
    const { detail, description } = detailOf(health);
    expect(detail).toMatch(wanted);
    expect(description).toContain(detail);
  });

  test("says nothing of a part that does not answer", () => {
    expect(detailOf((story) => story.good(), partly()).detail).toBe("The service did not answer.");
  });
});

describe("stored state that cannot be read", () => {
  const UNREAD = "Stored state of recordings cannot be read";
  const REFUSED = "The token was refused";
  const damaged = (story: FleetStory) => ({
    ...story.bad(),
    error: "Shard 0 is damaged.",
    fault: "unreadable" as const,
  });
  const refused = (story: FleetStory) => ({ ...story.bad(START - DAY), error: REFUSED });
  const stopped = { goodAt: START - 2 * DAY, attemptedAt: START - 2 * DAY };
  const both = `${REFUSED}. Shard 0 is damaged.`;

  test.each<[string, string, string, (story: FleetStory) => Partial<SelfEvidence>]>([
    ["nothing", UNREAD, "Shard 0 is damaged.", () => ({})],
    ["a list that fails", "The location list of", both, (story) => ({ inventory: refused(story) })],
    ["a shard that fails", "The analytics service is partly", both, (story) => ({ shards: [refused(story)] })],
    ["figures that fail", "Uptime figures of", both, (story) => ({ uptimes: [stopped, refused(story)] })],
    ["counts that fail", "Visitor counts of", both, (story) => ({ counts: [stopped, refused(story)] })],
  ])("beside %s the alert names what is wider, and both causes", (_, summary, detail, evidence) => {
    const story = new FleetStory(partly());
    story.tick(() => {
      const { shards = [], ...others } = evidence(story);
      return { shards: [damaged(story), story.good(), ...shards], ...others };
    });
    expect(story.alert.annotations.summary).toContain(summary);
    expect(story.alert.facts.detail).toBe(detail);
  });

  test("is not taken for the cause where every sweep of the others fails, and is named", () => {
    const story = new FleetStory(unreachable());
    story.tick(() => ({ shards: [damaged(story), refused(story)] }));
    expect(story.alert.annotations.summary).toBe("The analytics service is unreachable");
    expect(story.alert.facts.detail).toBe(both);
  });
});

describe("service: unreachable", () => {
  test("fires when no shard was read for three intervals and `for`, ends with the first good sweep", () => {
    const story = new FleetStory(unreachable({ forMs: MINUTE, labels: { severity: "critical" } }));
    expect(story.tick(() => ({ shards: [story.good(), story.good()] }))).toEqual([]);
    const seenAt = story.now;
    const dark = () => ({ shards: [story.bad(seenAt - 5), story.bad(seenAt)] });
    for (let i = 0; i < 3; i++) expect([story.tick(dark), story.last.next]).toEqual([[], {}]);
    for (let i = 0; i < 2; i++) expect(story.tick(dark)).toEqual([]);
    expect(story.tick(dark)).toEqual([`firing ServiceUnreachable/${DOWN}`]);
    expect(story.alert).toMatchObject({
      startsAt: seenAt,
      labels: { alertname: "ServiceUnreachable", severity: "critical" },
      facts: { timezone: "UTC", detail: "The service did not answer." },
    });
    expect(Object.keys(story.alert.labels)).toEqual(["severity", "alertname"]);
    expect(story.alert.annotations.description).toContain("The service did not answer.");
    expect(story.tick(dark)).toEqual([]);
    expect(story.tick(() => ({ shards: [story.bad(), story.good()] }))).toEqual([
      `resolved ServiceUnreachable/${DOWN} recovered`,
    ]);
    expect(story.state).toEqual({});
  });

  test.each([
    ["could be read", (story: FleetStory) => story.good()],
    ["was asked once more in vain", (story: FleetStory) => story.bad()],
  ])("ends no sooner than every shard %s: what is held back until then is older than that", (_, then) => {
    const story = new FleetStory(unreachable());
    story.tick(() => ({ shards: [story.bad(), story.bad()] }));
    const notYet = { ...story.bad(), attemptedAt: story.now + INTERVAL - 1 };
    expect(story.tick(() => ({ shards: [story.good(), notYet] }))).toEqual([`updated ServiceUnreachable/${DOWN}`]);
    const seenAt = story.now;
    expect(story.tick(() => ({ shards: [story.good(), notYet] }))).toEqual([]);
    expect(story.tick(() => ({ shards: [story.good(), then(story)] }))).toEqual([
      `resolved ServiceUnreachable/${DOWN} recovered`,
    ]);
    expect(story.alert.endsAt).toBe(seenAt);
  });

  test("waits for no shard that nobody asks for any more", () => {
    const story = new FleetStory(unreachable());
    story.tick(() => ({ shards: [story.bad(), story.bad()] }));
    const left = story.bad();
    const notified = Array.from({ length: 5 }, () => story.tick(() => ({ shards: [story.good(), left] })));
    const told = notified.flat().filter((one) => !one.startsWith("updated"));
    expect(told).toEqual([`resolved ServiceUnreachable/${DOWN} recovered`]);
  });

  test("says so when the cause changes", () => {
    const story = new FleetStory(unreachable());
    story.tick(() => ({ shards: [story.bad()] }));
    expect(story.tick(() => ({ shards: [{ ...story.bad(), error: "The token was refused." }] }))).toEqual([
      `updated ServiceUnreachable/${DOWN}`,
    ]);
  });

  const silent: [string, (story: FleetStory) => Partial<SelfEvidence>][] = [
    ["just after a start nobody was asked", (story) => ({ shards: [story.never(), story.never()] })],
    [
      "attempts of before our own downtime prove nothing",
      (story) => ({ shards: [{ goodAt: 1, attemptedAt: story.now - 3 * INTERVAL - 1, error: "old" }] }),
    ],
    ["failures for less than three intervals are none", (story) => ({ shards: [story.bad(story.now - 3 * INTERVAL)] })],
    [
      "a good sweep of more than a tenth is enough",
      (story) => ({ shards: [story.good(), ...Array.from({ length: 8 }, story.bad0)] }),
    ],
    [
      "so many recordings that are understood are enough",
      (story) => ({ shards: [{ ...story.good(), known: 50, stale: 44 }] }),
    ],
    [
      "with shards, the inventory's trouble is not the sweeps'",
      (story) => ({ shards: [story.good()], inventory: story.bad() }),
    ],
  ];
  test.each(silent)("%s", (_, evidence) => {
    const story = new FleetStory(unreachable());
    story.startedAt = START;
    expect(story.tick(() => evidence(story))).toEqual([]);
    expect(story.last.decisions).toEqual([]);
  });

  const noneRead: [string, (story: FleetStory) => Partial<SelfEvidence>][] = [
    ["every shard fails", (story) => ({ shards: [story.bad(), story.bad()] })],
    ["nobody sweeps", () => ({ shards: [{ goodAt: START - DAY, attemptedAt: START - DAY }] })],
    ["no shard was ever swept", (story) => ({ shards: [story.never(), story.never()] })],
    [
      "a single shard is read, of ten",
      (story) => ({ shards: [story.good(), ...Array.from({ length: 9 }, story.bad0)] }),
    ],
    [
      "the small shards are read",
      (story) => ({
        shards: [
          { ...story.bad(), known: 99 },
          { ...story.good(), known: 11 },
        ],
      }),
    ],
    ["answers come that are not understood", (story) => ({ shards: [{ ...story.good(), known: 50, stale: 45 }] })],
    ["no answer can be stored", (story) => ({ shards: [{ ...story.bad(), fault: "internal", known: 50 }] })],
  ];
  test.each(noneRead)("fires where %s", (_, evidence) => {
    const story = new FleetStory(unreachable());
    expect(story.tick(() => evidence(story))).toEqual([`firing ServiceUnreachable/${DOWN}`]);
  });

  test("a question may be under way for as long as its timeout; one that failed is waited for no longer", () => {
    const firesAfter = (ms: number, error?: string) => {
      const story = new FleetStory(unreachable());
      story.requestTimeoutMs = 2 * INTERVAL;
      const last = { goodAt: START, attemptedAt: error ? START + 1 : START, error };
      return story.tick(() => ({ shards: [last] }), ms).length;
    };
    expect([firesAfter(5 * INTERVAL), firesAfter(5 * INTERVAL + 1)]).toEqual([0, 1]);
    expect([firesAfter(3 * INTERVAL, "No answer."), firesAfter(3 * INTERVAL + 1, "No answer.")]).toEqual([0, 1]);
  });

  test("a firing one waits while we ourselves are down", () => {
    const story = new FleetStory(unreachable());
    story.tick(() => ({ shards: [story.bad()] }));
    const asked = story.now;
    const before = story.state;
    const stale = { goodAt: START, attemptedAt: asked, error: "The service did not answer." };
    story.startedAt = story.now + 60 * MINUTE;
    expect(story.tick(() => ({ shards: [stale] }), 60 * MINUTE)).toEqual([]);
    expect(story.state).toEqual(before);
    expect(story.tick(() => ({ shards: [story.good()] }))).toEqual([`resolved ServiceUnreachable/${DOWN} recovered`]);
  });

  test("without any shard the inventory's attempts count", () => {
    const story = new FleetStory(unreachable());
    expect(story.tick(() => ({ inventory: story.bad(0) }))).toEqual([`firing ServiceUnreachable/${DOWN}`]);
    expect(story.tick(() => ({ inventory: story.good() }))).toEqual([`resolved ServiceUnreachable/${DOWN} recovered`]);
  });
});

describe("service: partly_unreachable", () => {
  const KEY = `ServicePartlyUnreachable/${DOWN}`;

  type Now = (story: FleetStory) => Partial<SelfEvidence>;
  const shard = (story: FleetStory, more: Partial<Attempt>): Attempt => ({ ...story.good(), ...more });
  const figures =
    (of: "uptimes" | "counts", ageMs: number, isAsked: boolean): Now =>
    (story) => {
      const goodAt = story.now - ageMs;
      return { [of]: [isAsked ? story.bad(goodAt) : { goodAt, attemptedAt: goodAt }] };
    };
  const absent =
    (of: "shards" | "uptimes", ...each: [known: number, absent: number][]): Now =>
    (story) => ({ [of]: each.map(([known, absent]) => shard(story, { known, absent })) });
  const [TWICE, LATER] = [20 * MINUTE, 20 * MINUTE + 1];
  const well: Now = () => ({});
  const tooLarge = "The reply was too large.";
  const causes: readonly (readonly [name: string, fine: readonly Now[], old: Now])[] = [
    ["some shards fail", [well], (story) => ({ shards: [story.bad(), story.good()] })],
    ["uptime figures fail", [figures("uptimes", TWICE, true)], figures("uptimes", LATER, true)],
    ["nobody asks for uptime figures", [figures("uptimes", TWICE, false)], figures("uptimes", LATER, false)],
    ["counts fail that rules depend on", [figures("counts", TWICE, true)], figures("counts", LATER, true)],
    ["the location list is not believed", [well], (story) => ({ inventory: { ...story.bad(), error: "3 of 50" } })],
    ["sweeps are late", [well], (story) => ({ shards: [shard(story, { lateMs: 4 * INTERVAL }), story.good()] })],
    [
      "recordings are not understood",
      [(story) => ({ shards: [shard(story, { error: tooLarge })] })],
      (story) => ({ shards: [shard(story, { known: 50, stale: 1, error: tooLarge })] }),
    ],
    [
      "a location is refused of which no recording is known",
      [well],
      (story) => ({ shards: [shard(story, { known: 50, stale: 1, error: tooLarge })] }),
    ],
    [
      "most recordings lack their segments though they are online",
      [absent("uptimes", [3, 2]), absent("uptimes", [100, 100], [100, 0])],
      absent("uptimes", [100, 100], [100, 1]),
    ],
    [
      "answers lack so many recordings that they are not believed",
      [absent("shards", [50, 10], [50, 10]), absent("shards", [50, 50], [450, 0])],
      absent("shards", [50, 50], [50, 50]),
    ],
  ];

  test("fires for each cause, not before, says so, and recovers", async () => {
    const told = causes.map(([name, fine, old]) => {
      const story = new FleetStory(partly());
      const tick = (now: Now) => story.tick(() => ({ shards: [story.good()], ...now(story) }));
      for (const one of fine) expect(tick(one), name).toEqual([]);
      expect(tick(old), name).toEqual([`firing ${KEY}`]);
      const { annotations, facts } = story.alert;
      expect(tick(well), name).toEqual([`resolved ${KEY} recovered`]);
      return `${name}\n  ${annotations.summary}\n  ${annotations.description}\n  ${facts.detail}\n`;
    });
    await expect(told.join("")).toMatchFileSnapshot("self-alerts.txt");
  });

  test("does not fire for counts that no rule depends on", () => {
    const story = new FleetStory(partly());
    story.countsIntervalMs = undefined;
    expect(story.tick(() => ({ shards: [story.good()], ...figures("counts", DAY, true)(story) }))).toEqual([]);
  });

  test("fires while a sweep is overdue that never failed, but not for what was due before the start", () => {
    const story = new FleetStory(partly());
    story.startedAt = START;
    const old = { goodAt: START - 60 * MINUTE, attemptedAt: START - 60 * MINUTE };
    for (let i = 0; i < 3; i++) expect(story.tick(() => ({ shards: [old, story.good()] }))).toEqual([]);
    expect(story.tick(() => ({ shards: [old, story.good()] }))).toEqual([`firing ${KEY}`]);
    expect(story.alert.annotations.summary).toBe("Recordings are not swept");
    expect(story.tick(() => ({ shards: [story.good()] }))).toEqual([`resolved ${KEY} recovered`]);
  });

  test("names every cause, the widest first", () => {
    const story = new FleetStory(partly());
    story.tick(() => ({
      shards: [
        { ...story.good(), lateMs: 9 * INTERVAL },
        story.good(),
        story.bad(),
        { ...story.never(), since: START - DAY },
      ],
      uptimes: [story.good(), story.bad()],
    }));
    const { summary, description } = story.alert.annotations;
    expect(summary).toBe("The analytics service is partly unreachable");
    expect(description).toContain(
      "Recordings are not swept. Sweeps of recordings cannot keep their interval. Uptime figures of the analytics service are stale. The service did not answer.",
    );
  });

  test("goes on while a shard is read by a slow rhythm of its own, in and out of being unreachable", () => {
    const story = new FleetStory(partly({ forMs: 10 * MINUTE }), unreachable({ forMs: 3 * MINUTE }));
    const heard: string[] = [];
    for (let i = 0, goodAt = START; i < 60; i++)
      heard.push(
        ...story.tick(() => {
          if (i % 8 === 7) goodAt = story.now;
          return { shards: [{ ...story.bad(goodAt), attemptedAt: story.now, lateMs: 8 * INTERVAL }] };
        }),
      );
    expect(heard.filter((one) => !one.startsWith("updated"))).toEqual([`firing ${KEY}`]);
  });

  test("a slow service that is then wholly gone is unreachable, not slow", () => {
    const story = new FleetStory(partly());
    expect(story.tick(() => ({ shards: [{ ...story.bad(), lateMs: 9 * INTERVAL }] }))).toEqual([]);
  });

  test("a service that is wholly gone is not called partly gone for its list and its figures", () => {
    const story = new FleetStory(partly());
    const uptimes = () => [story.bad(story.now - 31 * MINUTE)];
    expect(story.tick(() => ({ shards: [story.bad()], inventory: story.bad(), uptimes: uptimes() }))).toEqual([]);
  });

  test("figures that grew old while we were down are not stale yet", () => {
    const story = new FleetStory(partly());
    story.startedAt = START;
    const old = { goodAt: START - 600 * MINUTE, attemptedAt: START - 600 * MINUTE };
    expect(story.tick(() => ({ shards: [story.good()], uptimes: [old] }))).toEqual([]);
  });
});

describe("notifications: failing", () => {
  const slack = (story: FleetStory, more: Partial<IntegrationHealth> = {}): IntegrationHealth => ({
    id: "ops/slack/0",
    name: "Slack (ops)",
    receiver: "ops",
    type: "slack",
    trouble: { since: story.now - 1_000, detail: "Slack answers 404." },
    ...more,
  });
  const KEY = "NotificationsFailing/integration/ops/slack/0";

  test("speaks of each integration that fails, since it fails", () => {
    const story = new FleetStory(failingRule({ labels: { severity: "critical" } }));
    const mail = () => slack(story, { id: "ops/email/0/a@example.com", type: "email", trouble: undefined });
    expect(story.tick(() => ({ integrations: [slack(story), mail()] }))).toEqual([`firing ${KEY}`]);
    expect(story.alert).toMatchObject({
      subject: { kind: "integration", id: "ops/slack/0" },
      startsAt: story.now - 1_000,
      labels: { alertname: "NotificationsFailing", receiver: "ops", integration: "slack", severity: "critical" },
      facts: { detail: "Slack answers 404." },
    });
    expect(story.tick(() => ({ integrations: [slack(story, { trouble: undefined }), mail()] }))).toEqual([
      `resolved ${KEY} recovered`,
    ]);
  });

  test("expires where nothing is due that would show whether it works", () => {
    const story = new FleetStory(failingRule());
    story.tick(() => ({ integrations: [slack(story)] }));
    const untried = () => [slack(story, { trouble: { since: START, detail: "", isOver: true } })];
    expect(story.tick(() => ({ integrations: untried() }))).toEqual([`resolved ${KEY} expired`]);
    expect(story.tick(() => ({ integrations: untried() }))).toEqual([]);
  });

  test("an integration that is gone from the configuration is no longer watched", () => {
    const story = new FleetStory(failingRule());
    story.tick(() => ({ integrations: [slack(story)] }));
    expect(story.tick(() => ({}))).toEqual([`resolved ${KEY} no_longer_watched`]);
    expect(story.state).toEqual({});
  });

  test("a rule gone from the configuration ends its alert", () => {
    const story = new FleetStory(failingRule());
    story.tick(() => ({ integrations: [slack(story)] }));
    story.rules = [];
    expect(story.tick(() => ({ integrations: [slack(story)] }))).toEqual([`resolved ${KEY} rule_removed`]);
  });
});

test("many groups with something offline look at each shard no more often than one", () => {
  const when = { kind: "group_offline", by: "camera_server", atLeast: 0.5, clearBelow: 0.5, minRecordings: 2 } as const;
  const looksAt = (groups: number) => {
    let looks = 0;
    const offline = [{ id: "r", since: START }];
    const count = { known: 2, fresh: 2, shared: {}, locations: 1, offline };
    const counts = {
      camera_server: Object.fromEntries(Array.from({ length: groups }, (_, i) => [`server-${i}`, count])),
    };
    const shard = Object.defineProperty({ at: START, offline: 1, counts }, "counts", {
      get: () => {
        looks++;
        return counts;
      },
    });
    const inventory = { recording: () => undefined, location: () => undefined };
    const story = new FleetStory(rule("CameraServerOffline", when));
    story.tick(() => ({ groups: { shards: [shard, shard], inventory } }));
    return { looks, groups: Object.keys(story.last.next).length };
  };
  const one = looksAt(1);
  expect(one.groups).toBe(1);
  expect(looksAt(200)).toEqual({ looks: one.looks, groups: 200 });
});
