import { describe, expect, it } from "vitest";
import type { GroupDecision, GroupView, NotifiedEntry, Suppression, Suppressions } from "../../src/alerting/model.ts";
import { needsResend } from "../../src/alerting/resend.ts";
import type { Alert } from "../../src/health/alert.ts";
import { firing, HOUR, MINUTE, over, T0 } from "../store/fixtures.ts";

const NOW = T0 + HOUR;
const [a, b] = [firing("a"), firing("b")];
const gone = (endedAgo: number, alert = a) => over(alert, NOW - endedAgo);

const notified = (alert: Alert, notifiedAt: number, endNotifiedAt?: number): [string, NotifiedEntry] => [
  alert.id,
  { alert, notifiedAt, groupId: "g", ...(endNotifiedAt === undefined ? {} : { endNotifiedAt }) },
];

const decide = (more: Partial<GroupView>) =>
  needsResend({
    now: NOW,
    repeatIntervalMs: MINUTE,
    sendResolved: true,
    dueSince: new Map(),
    alerts: [],
    notified: new Map(),
    unsure: new Map(),
    ...more,
  });

const silenced: Suppression = { reason: "silenced", by: "s" };
const holding = (suppression: Suppression, ...alerts: Alert[]): Suppressions => ({
  muted: undefined,
  suppressed: new Map(alerts.map(({ id }) => [id, suppression])),
  suppressedBefore: new Map(),
  recheckEveryMs: 1_000,
  standsFor: new Map(),
});

/** `more +a -b` for what is sent, `-b` in brackets where it was before; who leaves; when it is looked at again. */
function short(decision: GroupDecision): [string, string[], number | undefined] {
  const name = (id: string) => id.replace(/@.*$/, "");
  const said =
    decision.notify === undefined
      ? [decision.why]
      : [
          decision.notify,
          ...decision.firing.map(({ id }) => `+${name(id)}`),
          ...decision.resolved.map(({ id, isAgain }) => (isAgain ? `(-${name(id)})` : `-${name(id)}`)),
        ];
  const { nextAt } = decision;
  return [said.join(" "), decision.settled.map(name), nextAt === undefined ? undefined : nextAt - NOW];
}

it("is sent again at the same moments as every other group, so that all go together", () => {
  const now = NOW + 20_000;
  const at = (notifiedAt: number, moment: number) =>
    short(decide({ now: moment, alerts: [a], notified: new Map([notified(a, notifiedAt)]) }));
  expect(at(NOW - 1_000, now)).toEqual(["resend +a", [], MINUTE]);
  expect(at(NOW, now)).toEqual(["nothing_new", [], MINUTE]);
  expect(at(NOW, NOW + MINUTE)).toEqual(["resend +a", [], 2 * MINUTE]);
  expect(short(decide({ now, alerts: [a] }))).toEqual(["first +a", [], MINUTE]);
});

describe("what another Alertmanager is sent", () => {
  it("is what fires, at once, and again at every interval", () => {
    expect(short(decide({ alerts: [a] }))).toEqual(["first +a", [], MINUTE]);
    const later = notified(a, NOW - MINUTE);
    expect(short(decide({ alerts: [a], notified: new Map([later]) }))).toEqual(["resend +a", [], MINUTE]);
    const justNow = notified(a, NOW);
    expect(short(decide({ now: NOW + 1_000, alerts: [a], notified: new Map([justNow]) }))).toEqual([
      "nothing_new",
      [],
      MINUTE,
    ]);
  });

  it("is what is new, with all that fires beside it", () => {
    const known = new Map([notified(a, NOW - 10_000)]);
    expect(short(decide({ alerts: [a, b], notified: known }))).toEqual(["more +a +b", [], MINUTE]);
  });

  it("is an end, again and again for a quarter of an hour, then no more", () => {
    const known = new Map([notified(a, NOW - MINUTE)]);
    expect(short(decide({ alerts: [gone(1_000)], notified: known }))).toEqual(["resolved -a", [], MINUTE]);
    const ended = (ago: number) => new Map([notified(a, NOW - HOUR, NOW - ago)]);
    const again = decide({ alerts: [gone(9 * MINUTE)], notified: ended(9 * MINUTE) });
    expect(short(again)).toEqual(["resend (-a)", [], MINUTE]);
    const last = decide({ alerts: [gone(15 * MINUTE)], notified: ended(15 * MINUTE) });
    expect(short(last)).toEqual(["resend (-a)", ["a"], undefined]);
  });

  it("is an end for as long however late it could be sent first", () => {
    const known = new Map([notified(a, NOW - 3 * HOUR)]);
    const late = decide({ alerts: [gone(2 * HOUR)], notified: known });
    expect(short(late)).toEqual(["resolved -a", [], MINUTE]);
  });

  it("is a new episode beside the end of the last one", () => {
    const next = firing("a", NOW - 1_000);
    const known = new Map([notified(a, NOW - HOUR, NOW - MINUTE)]);
    const decision = decide({ alerts: [gone(MINUTE), next], notified: known });
    expect(short(decision)).toEqual(["more +a (-a)", [], MINUTE]);
  });

  it("is the end of what came and went before anything could be sent, once", () => {
    const late = decide({ alerts: [gone(1_000)], dueSince: new Map([[gone(1_000).id, NOW - MINUTE]]) });
    expect(short(late)).toEqual(["resolved -a", ["a"], undefined]);
  });

  it("is the end of what is known no more, once", () => {
    expect(short(decide({ notified: new Map([notified(a, NOW - HOUR)]) }))).toEqual(["resolved -a", ["a"], undefined]);
  });

  it("is nothing of what is held, until that is over", () => {
    expect(short(decide({ alerts: [a], suppressions: holding(silenced, a) }))).toEqual(["silenced", [], MINUTE]);
    const both = decide({ alerts: [a, b], suppressions: holding(silenced, a) });
    expect(short(both)).toEqual(["first +b", [], MINUTE]);
  });

  it.each(["silenced", "inhibited", "acknowledged", "paused"] as const)(
    "is still what was sent before it was %s: left out, it would look like an end",
    (reason) => {
      const known = new Map([notified(a, NOW - MINUTE)]);
      const suppressions = holding({ reason, by: "x" }, a);
      expect(short(decide({ alerts: [a], notified: known, suppressions }))).toEqual(["resend +a", [], MINUTE]);
    },
  );

  it("is an end even in a time in which nothing new is said", () => {
    const suppressions = { ...holding(silenced), muted: { reason: "muted", by: "night" } as const };
    expect(short(decide({ alerts: [a], suppressions }))).toEqual(["muted", [], MINUTE]);
    const known = new Map([notified(b, NOW - MINUTE)]);
    const decision = decide({ alerts: [a, gone(1_000, b)], notified: known, suppressions });
    expect(short(decision)).toEqual(["resolved -b", [], MINUTE]);
  });

  it("is what a claim that died may have sent, held or not", () => {
    const unsure = new Map([notified(a, NOW)]);
    expect(short(decide({ alerts: [a], unsure, suppressions: holding(silenced, a) }))).toEqual([
      "first +a",
      [],
      MINUTE,
    ]);
  });
});

it("goes on while its shard cannot be read, and waits for that after a pause that the alert did not survive there", () => {
  const stale = holding({ reason: "stale", by: "shard:1" }, a);
  const sentAgo = (ago: number) =>
    short(decide({ alerts: [a], notified: new Map([notified(a, NOW - ago)]), suppressions: stale }));
  expect(sentAgo(2 * MINUTE)[0]).toBe("resend +a");
  expect(sentAgo(16 * MINUTE)[0]).toBe("stale");
  expect(short(decide({ alerts: [a], suppressions: stale }))[0]).toBe("stale");
});
