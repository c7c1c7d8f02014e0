/** Delivery over the store's scripts: what is sent when, what is stored of it, and what becomes of refusals. */
import { describe, expect, it, test } from "vitest";
import type { Notification, NotifiedEntry, NotifyErrorCode } from "../../src/alerting/model.ts";
import { retryAt } from "../../src/deliver/retry-policy.ts";
import { toNotification } from "../../src/deliver/to-notification.ts";
import { LEASE_MS, SEND_DEADLINE_MS } from "../../src/deliver/turn.ts";
import type { Alert } from "../../src/health/alert.ts";
import type { Claim, Claimed } from "../../src/store/groups.ts";
import { firing, HOUR, integration, MINUTE, over, SECOND, T0 } from "../store/fixtures.ts";
import { aStart } from "../support/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";
import { down, inTurn, type Lab, lost, refusal, useLab } from "./lab.ts";

const slack = integration("ops/slack/0");
const program = integration("ops/alertmanager/0", { type: "alertmanager", resendMs: MINUTE });
const chat = integration("ops/chat/0", { conversation: "edits" });
const camera = firing("cam");
const sites = (count: number) => Array.from({ length: count }, (_, i) => `s${i}`);
const badMessage = refusal("bad_request", { scope: "message" });

/** Runs `then` after each claim that is not idle; gives the claims, and for how long each was to last. */
function claimsOf(lab: Lab, then: (claim: Claim) => unknown = () => {}) {
  const made: { readonly claim: Claim; readonly leaseMs: number }[] = [];
  lab.groups.claim = async (...args) => {
    const claim = await lab.store.groups.claim(...args);
    const isIdle = claim.kind === "idle";
    if (!isIdle) made.push({ claim, leaseMs: args[3] });
    return isIdle ? claim : (((await then(claim)) as Claim | undefined) ?? claim);
  };
  return made;
}

/** How long the next storm is gathered after each settlement of many groups. */
function gatheredBy(lab: Lab): number[] {
  const gathered: number[] = [];
  lab.groups.settle = async (...args) => {
    if (args[2].length > 1) gathered.push(args[3]?.gather?.ms ?? 0);
    return lab.store.groups.settle(...args);
  };
  return gathered;
}

const decided = async (lab: Lab, name: string) =>
  (await lab.store.log.read([{ kind: "recording", id: name }], 0)).map(
    ({ reason, detail }) => `${reason} ${detail ?? ""}`,
  );

describeWithRedis("a message", () => {
  const labOf = useLab(slack);

  it("is sent when its group is due, settled, and due again for the reminder", async () => {
    const lab = labOf();
    const { id } = await lab.fires("cam");
    await lab.until(1);
    const now = T0 + 30 * SECOND;
    expect(lab.log.map(({ n }) => n)).toMatchObject([
      { reason: "first", receiver: "ops", integrationId: slack.id, externalUrl: "https://lw.test", now },
    ]);
    expect(await lab.store.groups.notified(slack.id)).toMatchObject([
      { alert: { id }, notifiedAt: now, firstNotifiedAt: now },
    ]);
    expect(lab.reports).toEqual(["wake 240.5", "notified first 30", "wake 240.5"]);
    expect(await decided(lab, "cam")).toEqual(["notified first"]);
    expect(lab.logged).toEqual(["info: notified"]);
    await lab.until(241);
    expect(lab.lines().at(-1)).toBe("240.5 ops/slack reminder =cam");
    expect(await decided(lab, "cam")).toEqual(["notified first", "reminded 1"]);
  });

  it("is not sent where there is nothing new, or all was over before it was due: the reason is counted", async () => {
    const lab = labOf();
    await lab.fires("a", "1");
    await lab.ends(await lab.fires("b", "2"));
    await lab.until(1);
    await lab.store.groups.hasten(slack.id, lab.now);
    await lab.until(2);
    expect(lab.lines()).toEqual(["0.5 ops/slack first +a"]);
    expect(lab.reports.filter((one) => !one.startsWith("wake")).sort()).toEqual([
      "notified first 30",
      "suppressed nothing_new",
      "suppressed resolved_before_notified",
    ]);
    expect(await decided(lab, "b")).toEqual(["resolved_before_notified "]);
    expect(await lab.store.groups.nextDue([slack.id])).toEqual(new Map([[slack.id, T0 + 240.5 * MINUTE]]));
  });

  it("leaves out an episode that lost its alert, which leaves the group", async () => {
    const lab = labOf();
    await lab.loses(await lab.fires("a"));
    await lab.fires("b");
    const claims = claimsOf(lab);
    await lab.until(241);
    expect(lab.lines()).toEqual(["0.5 ops/slack first +b", "240.5 ops/slack reminder =b"]);
    const lostOf = ({ claim }: (typeof claims)[number]) => (claim.kind === "group" ? claim.lost.length : undefined);
    expect(claims.map(lostOf)).toEqual([1, 0]);
  });

  it("reminds of nothing that is routed elsewhere now", async () => {
    const lab = labOf();
    await lab.fires("a");
    await lab.fires("b");
    await lab.until(1);
    const routed = new Set(["a"]);
    lab.deps.isRouted = ({ key }) => routed.has(key);
    await lab.reroute();
    await lab.until(241);
    expect(lab.lines().at(-1)).toBe("240.5 ops/slack reminder =a");
    routed.clear();
    await lab.until(500);
    expect([lab.lines().length, lab.reports.includes("suppressed routed_elsewhere")]).toEqual([2, true]);
    expect(await lab.store.groups.notified(slack.id)).toHaveLength(2);
  });

  it("of what fired and resolved while only the receiver failed is late, and the last", async () => {
    const lab = labOf();
    lab.how = () => (lab.minute() < 9 ? down : "ok");
    const alert = await lab.fires("a");
    await lab.until(2);
    await lab.ends(alert);
    await lab.until(20);
    expect(lab.lines()).toEqual([expect.stringMatching(/^\S+ ops\/slack resolved ±a$/)]);
    expect(await lab.store.shards.alerts()).toEqual([]);
  });

  it.for(["busy", "backoff", "gather"] as const)("is looked for again when %s is over", async (kind) => {
    const lab = labOf();
    lab.groups.claim = async () => ({ kind, until: T0 + 3 * MINUTE });
    await lab.deliver(slack.id);
    expect(lab.reports).toEqual(["wake 3"]);
  });

  it("waits for none once delivery is stopped, which takes no new group", async () => {
    const lab = labOf();
    lab.groups.claim = async () => ({ kind: "pace", until: T0 + HOUR });
    const delivery = lab.replica();
    const delivered = delivery.deliver(slack.id);
    delivery.stop();
    await delivered;
    const stopped = lab.anotherReplica();
    stopped.drain();
    await stopped.deliver(slack.id);
    await lab.anotherReplica().deliver("nobody/slack/0");
    expect([lab.log, lab.reports]).toEqual([[], []]);
  });

  it("that a wake-up is about is sent, though the wake-up came while nothing more was found", async () => {
    const lab = labOf();
    await lab.fires("a", "1");
    let isWoken = false;
    lab.groups.claim = async (...args) => {
      const claim = await lab.store.groups.claim(...args);
      if (claim.kind !== "idle" || isWoken) return claim;
      isWoken = true;
      await lab.fires("b", "2");
      lab.now += 30 * SECOND;
      await lab.deliver(slack.id);
      expect(lab.log).toHaveLength(1);
      return claim;
    };
    lab.now += 30 * SECOND;
    await lab.deliver(slack.id);
    expect(lab.lines()).toEqual(["0.5 ops/slack first +a", "1 ops/slack first +b"]);
  });

  it("is not sent under a claim that grew old on its way; the next claim is longer", async () => {
    expect(SEND_DEADLINE_MS).toBeLessThan(LEASE_MS);
    const lab = labOf();
    const claims = claimsOf(lab, () => lab.pass(2_600));
    await lab.fires("a");
    await lab.until(1);
    expect(claims.map(({ leaseMs }) => leaseMs)).toEqual([LEASE_MS, 2 * LEASE_MS]);
    expect(lab.lines()).toHaveLength(1);
  });

  it.each([
    [4, "once", [9, 1, 2]],
    [6, "anew where an alert has ended since, and sent at last", [6, 1, 2, 4, 4, 8]],
  ])("that took %i s to prepare is prepared %s", async (seconds, _, expected) => {
    const lab = labOf();
    const claims = claimsOf(lab);
    const waits = seconds === 6 ? [0, 0, 2] : [];
    // The clock moves while delivery waits for the pace.
    lab.deps.clock = {
      now() {
        lab.now += 5;
        return lab.now;
      },
    };
    lab.groups.pace = async () => waits.shift() ?? 0;
    const all: Alert[] = [];
    for (const name of sites(10)) all.push(await lab.fires(name));
    lab.deps.annotate = async (alerts) => {
      lab.now += seconds * SECOND;
      await lab.ends(all.pop() as Alert);
      return alerts;
    };
    lab.now += 30 * SECOND;
    await lab.deliver(slack.id);
    const sent = lab.log[0]?.n.firing.length;
    expect([sent, ...claims.map(({ leaseMs }) => leaseMs / LEASE_MS)].slice(0, expected.length)).toEqual(expected);
  });

  it("is settled as soon as Redis takes it, before anything else is claimed", async () => {
    const lab = labOf();
    let refused = 0;
    lab.groups.settle = async (...args) => {
      if (refused++ === 0) throw new Error("READONLY You can't write against a read only replica.");
      return lab.store.groups.settle(...args);
    };
    await lab.fireAll(["a", "b"]);
    await lab.until(1);
    expect(lab.lines()).toEqual(["0.5 ops/slack first +a", "0.5 ops/slack first +b"]);
    expect(lab.logged.filter((one) => one.startsWith("error"))).toHaveLength(1);
  });

  it("is ended by a store that throws, with one line; the lease brings the group back", async () => {
    const lab = labOf();
    await lab.ends(await lab.fires("a"));
    lab.groups.settle = () => Promise.reject(new Error("OOM"));
    lab.now += 30 * SECOND;
    await lab.deliver(slack.id);
    expect(lab.logged).toEqual(["error: delivery failed, retrying"]);
  });
});

describeWithRedis("a message of a paced integration", () => {
  const labOf = useLab({ ...slack, paceMs: 20 });
  it("waits for a token, and is decided again then", async () => {
    const lab = labOf();
    const began = performance.now();
    lab.deps.clock = { now: () => lab.now + Math.round(performance.now() - began) };
    await lab.fireAll(["a", "b"]);
    const takenAt: number[] = [];
    lab.groups.pace = async (of, now) => {
      const waitMs = await lab.store.groups.pace(of, now);
      if (waitMs === 0) takenAt.push(now);
      return waitMs;
    };
    lab.during = async () => {
      lab.during = async () => {};
      await lab.fires("c", "2");
    };
    lab.now += 30 * SECOND;
    await lab.deliver(slack.id);
    expect(lab.lines()).toEqual(["0.5 ops/slack first +a", "0.5 ops/slack first +b +c"]);
    expect(takenAt).toHaveLength(2);
    expect((takenAt[1] ?? 0) - (takenAt[0] ?? 0)).toBeGreaterThanOrEqual(20);
  });
});

describeWithRedis("an integration that is sent no ends", () => {
  const labOf = useLab({ ...slack, sendResolved: false });
  it("forgets them without a message", async () => {
    const lab = labOf();
    const alert = await lab.fires("a");
    await lab.until(1);
    await lab.ends(alert);
    await lab.until(10);
    expect(lab.lines()).toEqual(["0.5 ops/slack first +a"]);
    expect(lab.reports).toContain("suppressed send_resolved_off");
    expect(await decided(lab, "a")).toContain("send_resolved_off ");
    expect(await lab.store.shards.alerts()).toEqual([]);
  });
});

describeWithRedis("a refused message", () => {
  const labOf = useLab(slack);

  it("is sent again, and nothing is stored as notified; a repeated failure is logged once, and its end once", async () => {
    const lab = labOf();
    const claims = claimsOf(lab);
    lab.how = inTurn(down, down);
    await lab.fires("a");
    lab.now += 30 * SECOND;
    await lab.deliver(slack.id);
    expect(await lab.store.groups.notified(slack.id)).toEqual([]);
    expect(await lab.store.groups.trouble(slack, lab.now)).toMatchObject({ code: "network", detail: "No." });
    await lab.until(1);
    expect(claims.map(({ claim }) => (claim as Claimed).failures)).toEqual([0, 1, 2]);
    expect(lab.reports.filter((one) => one.startsWith("failed"))).toEqual(["failed network", "failed network"]);
    expect(lab.logged).toEqual([
      "warn: notification failed, retrying",
      "debug: notification failed, retrying",
      "info: notified",
      "info: notifications are accepted again",
    ]);
    expect(await decided(lab, "a")).toEqual(["failed network", "notified first"]);
  });

  it("is sent once more as plain text where it is invalid, within the same deadline", async () => {
    const lab = labOf();
    const sent: { readonly plain: boolean; readonly signal: AbortSignal; readonly id: string }[] = [];
    const send = async (
      { messageId }: Notification,
      { plain = false, signal }: { plain?: boolean; signal: AbortSignal },
    ) => {
      sent.push({ plain, signal, id: messageId });
      if (!plain) throw badMessage;
      return undefined;
    };
    lab.deps.senders = new Map([[slack.id, { integration: slack, send }]]);
    await lab.fires("a");
    await lab.until(1);
    expect(sent.map(({ plain }) => plain)).toEqual([false, true]);
    expect([new Set(sent.map(({ signal }) => signal)).size, new Set(sent.map(({ id }) => id)).size]).toEqual([1, 1]);
    expect(lab.reports.filter((one) => !one.startsWith("wake"))).toEqual(["notified first 30"]);
  });

  it("that is invalid as plain text too backs off alone, is logged once, and keeps no other waiting", async () => {
    const lab = labOf();
    lab.how = (_, { firing: [first] }) => (first?.key === "a" ? badMessage : "ok");
    await lab.fireAll(["a", "b"]);
    await lab.until(4);
    await lab.fires("c", "2");
    await lab.until(8);
    expect(lab.lines()).toEqual(["0.5 ops/slack first +b", "5.5 ops/slack more =b +c"]);
    expect(await lab.store.groups.trouble(slack, lab.now)).toMatchObject({ code: "bad_request" });
    expect(lab.logged.filter((one) => one.startsWith("warn"))).toHaveLength(1);
    expect(lab.logged).not.toContain("info: notifications are accepted again");
  });

  const WAITS: readonly [NotifyErrorCode, least: number, most: number][] = [
    ["network", 500, 1_000],
    ["timeout", 500, 1_000],
    ["server_error", 500, 1_000],
    ["rate_limited", 500, 1_000],
    ["other", 500, 1_000],
    ["auth", 5_000, 10_000],
    ["not_found", 5_000, 10_000],
    ["recipient_refused", 5_000, 10_000],
  ];
  const waits = (code: NotifyErrorCode, more = {}, counts = {}, who = slack) =>
    retryAt(who, refusal(code, more), [{ failures: 0, groupFailures: 0, ...counts }], T0) - T0;

  it.for(WAITS)("waits after %s at first between %i and %i ms", ([code, least, most]) => {
    expect(waits(code)).toBeGreaterThanOrEqual(least);
    expect(waits(code)).toBeLessThanOrEqual(most);
  });

  it("waits for minutes at most, and as long as it is asked to; a message counts by its group", () => {
    expect(waits("rate_limited", { retryAfterMs: 30_000 })).toBe(30_000);
    expect(waits("not_found", {}, { failures: 50 })).toBeLessThanOrEqual(5 * MINUTE);
    expect(waits("not_found", {}, { failures: 50 })).toBeGreaterThanOrEqual(2.5 * MINUTE);
    expect(waits("server_error", { scope: "message" }, { groupFailures: 8 })).toBeGreaterThan(30 * SECOND);
    expect(waits("server_error", {}, { groupFailures: 8 })).toBeLessThanOrEqual(SECOND);
    expect(waits("auth", {}, { failures: 20 }, program), "an alert that is resent is never late").toBe(MINUTE);
  });
});

describeWithRedis("a storm", () => {
  const labOf = useLab(slack);
  const storm = () => labOf({ stormGroups: 10 });

  it.each([true, false])(
    "is one message; each of its groups is settled on its own, all are claimed: %s",
    async (isAll) => {
      const lab = storm();
      claimsOf(lab, (claim) => ({ ...claim, isAll }));
      const gathered = gatheredBy(lab);
      await lab.fireAll(sites(12));
      await lab.until(1);
      expect(lab.log.map(({ n }) => [n.reason, n.groups, n.group.labels, n.firing.length])).toEqual([
        ["first", 12, {}, 12],
      ]);
      expect(lab.reports.filter((one) => one.startsWith("notified"))).toEqual(["notified first 30"]);
      const known = await lab.store.groups.notified(slack.id);
      expect(new Set(known.map(({ groupId }) => groupId)).size).toBe(12);
      expect(gathered).toEqual([isAll ? 30 * SECOND : 0]);
    },
  );

  it("of groups with almost nothing to send is none: each is sent alone", async () => {
    const lab = storm();
    const all = await lab.fireAll(sites(12));
    for (const one of all.slice(0, 10)) await lab.ends(one);
    await lab.until(1);
    expect(lab.lines().sort()).toEqual(["0.5 ops/slack first +s10", "0.5 ops/slack first +s11"]);
  });

  it("that is refused is given back whole, and counts as one failure of the endpoint", async () => {
    const lab = storm();
    const claims = claimsOf(lab);
    lab.how = inTurn(down);
    await lab.fireAll(sites(12));
    await lab.until(1);
    const failures = claims.map(({ claim }) => (claim.kind === "storm" ? claim.groups.map((one) => one.failures) : []));
    expect(failures).toEqual([Array(12).fill(0), Array(12).fill(1)]);
    expect(lab.log.map(({ n }) => n.groups)).toEqual([12]);
  });
});

describeWithRedis("annotations of locations", () => {
  const labOf = useLab(slack, program);
  const annotated = (lab: Lab) => {
    lab.deps.annotate = async (alerts) =>
      alerts.map((one) => ({ ...one, annotations: { zones: `zones of ${one.key}` } }));
    return lab;
  };
  const zonesOf = (alerts: readonly Alert[] = []) => alerts.map(({ annotations }) => annotations.zones);

  it("are sent with firing and resolved alerts, and stored nowhere", async () => {
    const lab = annotated(labOf());
    const a = await lab.fires("a");
    await lab.until(1);
    await lab.ends(a);
    await lab.fires("b");
    await lab.until(6);
    const [first, last] = [lab.log[0], lab.log.filter(({ id }) => id === slack.id).at(-1)];
    expect([zonesOf(first?.n.firing), zonesOf(last?.n.firing), zonesOf(last?.n.resolved)]).toEqual([
      ["zones of a"],
      ["zones of b"],
      ["zones of a"],
    ]);
    const stored = [await lab.store.groups.notified(slack.id), await lab.store.shards.alerts()];
    expect(JSON.stringify(stored)).not.toContain("zones of");
  });

  it("are left out of a summary for people, but not of what a program is sent", async () => {
    const lab = annotated(labOf({ stormGroups: 1 }));
    await lab.fireAll(["a", "b"]);
    await lab.until(0.6);
    const zones = new Map(lab.log.map(({ id, n }) => [id, [n.groups, ...zonesOf(n.firing)]]));
    expect(zones.get(program.id)).toEqual([2, "zones of a", "zones of b"]);
    expect(zones.get(slack.id)).toEqual([2, undefined, undefined]);
  });
});

describeWithRedis("an integration that forgets", () => {
  const labOf = useLab(program);

  it("is sent everything at its interval, without a latency or a line in the decision log, and ends for a while", async () => {
    const lab = labOf();
    const gathered = gatheredBy(lab);
    const [a] = await lab.fireAll(["a", "b"]);
    await lab.until(2.5);
    expect(lab.log.at(-1)?.n).toMatchObject({ reason: "resend", groups: 2, firing: [{ key: "a" }, { key: "b" }] });
    expect(lab.reports.filter((one) => one.startsWith("notified")).at(-1)).toBe("notified resend");
    expect(await decided(lab, "a")).toEqual(["notified first"]);
    expect([lab.logged.at(-1), new Set(gathered)]).toEqual(["debug: notified", new Set([0])]);
    await lab.ends(a as Alert);
    await lab.until(2.6);
    const [known] = (await lab.store.groups.notified(program.id)).filter(({ alert }) => alert.key === "a");
    expect(known).toMatchObject({ firstNotifiedAt: T0, endNotifiedAt: T0 + 2.5 * MINUTE });
    await lab.until(10);
    expect(lab.lines().at(-1)).toMatch(/resend \[2 groups\] =b -a$/);
    await lab.until(30);
    expect(lab.lines().at(-1)).toMatch(/resend =b$/);
  });
});

describeWithRedis("a conversation whose root is edited", () => {
  const labOf = useLab(chat);
  const quiet = useLab({ ...chat, sendResolved: false });

  /** One whose alert was acknowledged a minute after it fired: the root is to be edited. */
  async function acknowledged(lab = labOf()) {
    const alert = await lab.fires("a");
    await lab.until(1);
    lab.reports.length = 0;
    lab.logged.length = 0;
    await lab.ack(alert);
    return { lab, alert };
  }

  it("is brought up to date by a message that counts as none", async () => {
    const { lab } = await acknowledged();
    await lab.until(2);
    expect(lab.lines()).toEqual(["0.5 ops/chat first +a", "1 ops/chat update ~a(acknowledged)"]);
    const [first, update] = lab.log.map(({ n }) => n);
    const { id, openedAt } = first?.conversation ?? {};
    expect(update).toMatchObject({ trace: [], conversation: { id, openedAt, handle: `root-${id}`, isOver: false } });
    expect(lab.reports.filter((one) => !one.startsWith("wake"))).toEqual([]);
    expect(await lab.store.groups.notified(chat.id)).toMatchObject([{ notifiedAt: T0 + 30 * SECOND }]);
  });

  it.each([
    ["rate_limited", 1.5],
    ["auth", 3],
    ["bad_request", 6],
    ["conversation_gone", 6],
  ] as const)("is no trouble where its edit is refused with %s: it is due again at %d", async (code, minute) => {
    const { lab } = await acknowledged();
    lab.how = inTurn(refusal(code), ...(code === "bad_request" ? [refusal(code)] : []));
    await lab.until(1.01);
    const due = await lab.store.groups.nextDue([chat.id]);
    expect((Number(due.get(chat.id)) - T0) / MINUTE).toBe(minute);
    expect(lab.reports.filter((one) => /failed|notified/.test(one))).toEqual([]);
    expect(lab.logged.every((one) => one.startsWith("debug"))).toBe(true);
    await lab.fires("b");
    await lab.until(6);
    const { id, handle } = lab.log.at(-1)?.n.conversation ?? {};
    expect([id === lab.log[0]?.n.conversation?.id, handle]).toEqual([
      true,
      code === "conversation_gone" ? undefined : `root-${id}`,
    ]);
  });

  it("is edited every five seconds at most", async () => {
    const { lab, alert } = await acknowledged();
    await lab.until(1.01);
    await lab.silence("recording_id=a", 60);
    await lab.withdraw(alert);
    await lab.until(2);
    const at = lab.log.flatMap((one) => (one.n.reason === "update" ? [one.at] : []));
    expect(at.map((one) => one - T0)).toEqual([60_000, 65_000]);
  });

  it("is edited alone among groups that were claimed together, which are due again at once", async () => {
    const lab = labOf({ stormGroups: 1 });
    await acknowledged(lab);
    lab.now += 1;
    await lab.fires("b", "2");
    await lab.ends(await lab.fires("c", "3"));
    lab.now += 30 * SECOND;
    await lab.deliver(chat.id);
    expect(lab.lines().slice(1)).toEqual(["1.5 ops/chat first +b", "1.5 ops/chat update ~a(acknowledged)"]);
  });

  it("is continued by the repetition of a summary that may have been accepted", async () => {
    const lab = labOf({ stormGroups: 1 });
    lab.how = inTurn(lost);
    await lab.fireAll(["a", "b"]);
    await lab.until(1);
    expect(lab.log.map(({ n }) => n.groups)).toEqual([2, 2]);
    expect(new Set(lab.log.map(({ n }) => n.conversation?.id)).size).toBe(1);
  });

  it("shows ends that are not sent, and is closed with the last of them", async () => {
    const lab = quiet();
    const alert = await lab.fires("a");
    await lab.until(1);
    await lab.ends(alert);
    await lab.until(10);
    expect(lab.lines().at(-1)).toMatch(/ops\/chat update -a$/);
    expect(lab.log.at(-1)?.n.conversation).toMatchObject({ isOver: true });
    expect(await lab.store.shards.alerts()).toEqual([]);
  });

  it("begins again with the same news where its root is gone", async () => {
    const lab = labOf();
    const handles: (string | undefined)[] = [];
    const hows = inTurn("ok", refusal("conversation_gone"));
    lab.how = (_, { conversation }) => {
      handles.push(conversation?.handle);
      return hows();
    };
    await lab.fires("a");
    await lab.until(1);
    await lab.fires("b");
    await lab.until(6);
    expect(handles).toEqual([undefined, expect.any(String), undefined]);
    expect(lab.lines().at(-1)).toMatch(/more =a \+b$/);
    expect(lab.reports.some((one) => one.startsWith("failed"))).toBe(false);
  });
});

describe("a notification", () => {
  const at = (now: number) => ({ now, externalUrl: undefined });
  const shareOf = (more: Partial<Pick<Claimed, "group" | "labels" | "notified" | "nextAt">> = {}) => [
    { claim: { group: "g", labels: {}, notified: new Map(), nextAt: undefined, ...more } },
  ];
  const isNew = (alert: Alert) => ({ ...alert, fingerprint: "f", isNew: true });

  test("of a storm and of its end are one thread, whatever the receiver heard between", () => {
    const groupAt = (alerts: Alert[], ended: Alert[]) => {
      const words = { notify: "first" as const, firing: alerts.map(isNew), resolved: ended.map(isNew) };
      return toNotification(slack, [...shareOf(), ...shareOf()], words, at(T0)).group.id;
    };
    expect(groupAt([camera, firing("b", T0 + HOUR)], [])).toBe(groupAt([], [over(camera, T0 + HOUR)]));
    expect(groupAt([camera], [])).not.toBe(groupAt([firing("a", T0 + 48 * HOUR)], []));
  });

  test("of a start is a thread of its own, and another message after each start", () => {
    const start = { ...aStart, suppressed: 0 };
    const summary = (nextAt: number) =>
      toNotification(
        slack,
        shareOf({ group: "started", labels: { complete: "true" }, nextAt }),
        { notify: "started", firing: [], resolved: [], start },
        at(T0 + HOUR),
      );
    expect(summary(T0)).toMatchObject({ group: { id: "started", labels: {} }, start: { complete: true } });
    expect(summary(T0).messageId).toBe(summary(T0).messageId);
    expect(summary(T0).messageId).not.toBe(summary(T0 + HOUR).messageId);
  });

  test("has an id that stays while it is tried again, and changes with anything new", () => {
    const idOf = (names: string[], now = T0, notify: "first" | "reminder" = "first", more = {}) => {
      const words = { notify, firing: names.map((name) => isNew(firing(name))), resolved: [] };
      return toNotification(slack, shareOf(more), words, at(now)).messageId;
    };
    const remindedAt = (notifiedAt: number) => {
      const entry: NotifiedEntry = { alert: camera, notifiedAt, groupId: "g" };
      return idOf(["a", "b"], T0, "reminder", { notified: new Map([["a", entry]]) });
    };
    const first = idOf(["a", "b"]);
    expect(first).toMatch(/^[0-9a-f]{32}$/);
    expect(idOf(["b", "a"], T0 + HOUR)).toBe(first);
    const others = [idOf(["a"]), idOf(["a", "b"], T0, "first", { group: "h" }), remindedAt(T0), remindedAt(T0 + HOUR)];
    expect(new Set([first, ...others]).size).toBe(5);
  });
});
