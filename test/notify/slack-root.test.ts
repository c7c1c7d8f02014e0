/** A root says what is true: what is back is not offline, and once all is over it is about all that it named. */
import { expect, test } from "vitest";
import type { Notification, NotifiedAlert } from "../../src/alerting/model.ts";
import { namedIn, renderRoot } from "../../src/notify/slack/conversation.ts";
import { alertOf, endedOf, MINUTE, NOW, notificationOf, otherAlert } from "./fixtures.ts";

const conversation = { id: "0123456789abcdef", openedAt: NOW - 20 * MINUTE, handle: "h", isOver: false };
const rootOf = (changes: Partial<Notification>, named?: ReturnType<typeof namedIn>) =>
  (renderRoot(notificationOf({ conversation, ...changes }), { named }).text ?? "").split("\n");
const over = (changes: Partial<Notification>, named?: ReturnType<typeof namedIn>) =>
  rootOf(
    { reason: "resolved", conversation: { ...conversation, groups: changes.groups, isOver: true }, ...changes },
    named,
  );
const back = (name: string, more: Partial<NotifiedAlert> = {}) =>
  alertOf(name, {
    isNew: false,
    updatedAt: NOW - 2 * MINUTE,
    facts: { timezone: "Europe/London", problem: "offline", clearing: true },
    suppressedBy: { reason: "clearing", by: name },
    ...more,
  });

test("what is back is neither counted as offline nor said to be, acknowledged or not", () => {
  const acknowledged = { reason: "acknowledged", by: "Ana" } as const;
  for (const suppressedBy of [{ reason: "clearing", by: "x" } as const, acknowledged]) {
    const lines = rootOf({
      reason: "more",
      firing: [alertOf("Tills")],
      standing: [back("Entrance", { suppressedBy })],
    });
    expect(lines[0]).toBe("🔴 1 recording offline, 1 recording recovering · Leeds Briggate");
    expect(lines.join("\n")).toContain("Entrance: back since 14:15 GMT (2 m), was offline since 14:05");
    expect(lines.join("\n")).not.toMatch(/2 recordings|clearing/);
  }
  const [title, line] = rootOf({ reason: "update", standing: [back("Entrance")] });
  expect(title).not.toContain("offline");
  expect(line).toMatch(/^Back since 14:15 GMT/);
});

test("what is inhibited is said to be by what", () => {
  const location = otherAlert("location", "l", { alertname: "LocationOffline", location: "Leeds Briggate" });
  const source = { subject: location.subject, labels: location.labels };
  const inhibited = alertOf("Till 3", { isNew: false, suppressedBy: { reason: "inhibited", by: location.id, source } });
  const lines = rootOf({ reason: "more", firing: [alertOf("Entrance")], standing: [inhibited] });
  expect(lines.join("\n")).toContain("inhibited by LocationOffline (Leeds Briggate)");
});

const sites = Array.from({ length: 12 }, (_, i) => i).flatMap((site) =>
  ["Entrance", "Tills"].map((name) =>
    alertOf(`${name} ${site}`, { labels: { location_id: `l${site}`, location: `Site ${site}` } as never }),
  ),
);

test("a summary that is over is about the recordings and locations that it named", () => {
  const named = namedIn(notificationOf({ firing: sites }));
  const lines = over({ groups: 12, resolved: [endedOf("Till 3")] }, named);
  expect(lines[0]).toBe("✅ All over: 24 recordings offline at 12 locations, 14:05–14:17 GMT");
  expect(lines.join("\n")).not.toContain("group");
  expect(lines.join("\n")).toContain("Till 3");
  expect(over({ groups: 12, resolved: [endedOf("Till 3")] })[0]).toBe("✅ All over");
});

test.each([undefined, 12])("what is over without having recovered is not green (groups: %s)", (groups) => {
  const named = namedIn(notificationOf({ firing: sites }));
  for (const endReason of ["rule_removed", "no_longer_watched", "expired", "rule_changed"] as const) {
    const resolved = [endedOf("Entrance", { endReason }), endedOf("Tills", { endReason })];
    expect(over({ groups, resolved }, named)[0]).toMatch(/^⚪/);
  }
  expect(over({ groups, resolved: [] }, named)[0]).toMatch(/^⚪ All over/);
});

test("the end of the last of several alerts says how many there were", () => {
  const named = namedIn(notificationOf({ firing: [alertOf("Entrance")] }));
  const more = namedIn(notificationOf({ firing: [alertOf("Entrance", { isNew: false }), alertOf("Till 3")] }), named);
  expect(over({ resolved: [endedOf("Till 3")] }, more)[0]).toBe(
    "✅ Till 3 recovered · Leeds Briggate — after 9 m, last of 2 alerts",
  );
  expect(over({ resolved: [endedOf("Till 3")] }, named)[0]).toBe("✅ Till 3 recovered · Leeds Briggate — after 9 m");
});
