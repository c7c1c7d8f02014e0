import { describe, expect, it } from "vitest";
import { type Read, readMail, readSlack } from "../../bench/chaos/messages.ts";
import type { Notification, NotifiedAlert } from "../../src/alerting/model.ts";
import { renderEmail } from "../../src/notify/email/render.ts";
import { renderSlack } from "../../src/notify/slack/render.ts";
import { alertOf, endedOf, MINUTE, NOW, notificationOf, otherAlert } from "../notify/fixtures.ts";
import { type SlackBody, startSlackSink } from "../support/slack-sink.ts";

const ADDRESSES = { from: "a@example.com", sender: "a@example.com", to: ["b@example.com"], recipient: "b@example.com" };

/** One notification parsed from Slack and from a mail. */
async function readings(changes: Partial<Notification>): Promise<Read[]> {
  const notification = notificationOf({ externalUrl: undefined, ...changes });
  const sink = await startSlackSink();
  await fetch(sink.url, {
    method: "POST",
    body: JSON.stringify(renderSlack(notification) satisfies SlackBody | object),
  });
  const { shown } = await sink.next();
  await sink.close();
  const names = new Set([...notification.firing, ...notification.resolved].map(({ labels }) => labels.recording ?? ""));
  return [readSlack(shown, names), readMail(renderEmail(notification, ADDRESSES).text, names)];
}

const at = { lastedMs: 12 * MINUTE, beganMinute: 5 };

describe("reading messages", () => {
  it("distinguishes new, ongoing and resolved alerts", async () => {
    const changes = {
      reason: "more",
      firing: [alertOf("Till 3", { isNew: false }), alertOf("Gentleman's *Walk* <3")],
      resolved: [
        endedOf("Back door"),
        endedOf("Late", { isNew: true }),
        endedOf("Roof", { endReason: "expired" }),
        endedOf("Gone", { endReason: "no_longer_watched", isNew: true }),
      ],
    } as const;
    for (const { lines, unreadable } of await readings(changes)) {
      expect(unreadable).toEqual([]);
      expect(lines).toEqual([
        { subject: "Gentleman's *Walk* <3", kind: "firing", ...at },
        { subject: "Till 3", kind: "still", ...at },
        { subject: "Back door", kind: "recovered", beganMinute: 5, lastedMs: 9 * MINUTE },
        { subject: "Late", kind: "late", beganMinute: 5, lastedMs: 9 * MINUTE },
        { subject: "Roof", kind: "ended", beganMinute: 5, lastedMs: 9 * MINUTE },
        { subject: "Gone", kind: "ended", beganMinute: 5, lastedMs: 9 * MINUTE },
      ]);
    }
  });

  it("reads a first message as new and a reminder as ongoing", async () => {
    for (const { lines } of await readings({ firing: [alertOf("Till 3")] }))
      expect(lines).toEqual([{ subject: "Till 3", kind: "firing", ...at }]);
    const sent = alertOf("Till 3", { isNew: false });
    for (const { lines } of await readings({ reason: "reminder", firing: [sent] }))
      expect(lines).toEqual([{ subject: "Till 3", kind: "still", ...at }]);
  });

  it.each([[true], [false]])("counts what a summary says of all its locations in its title (%s)", async (isNew) => {
    const resolved = Array.from({ length: 12 }, (_, i) =>
      ["Tills", "Door"].map((name) => {
        const ended = endedOf(`${name} ${i}`, { isNew });
        return { ...ended, labels: { ...ended.labels, location: `Leeds ${i}`, location_id: `l${i}` } };
      }),
    ).flat();
    for (const { counted, total, unreadable } of await readings({ reason: "resolved", groups: 12, resolved })) {
      expect(unreadable).toEqual([]);
      expect(total).toEqual({ back: 24 });
      expect(counted).toHaveLength(8);
      expect(counted[3]).toMatchObject({ kind: "recovered", count: 2 });
    }
  });

  it("reads where the only new one of a summary is, whose title counts locations", async () => {
    const at = (alert: NotifiedAlert, location: string) => ({
      ...alert,
      labels: { ...alert.labels, location, location_id: location },
    });
    const firing = [at(alertOf("Derby High Street Shoes"), "Derby High Street")];
    const resolved = ["Leeds", "York"].map((town) => at(endedOf(`${town} Till`), town));
    for (const { lines } of await readings({ reason: "more", groups: 3, firing, resolved }))
      expect(lines.map(({ subject }) => subject)).toEqual(["Derby High Street Shoes", "Leeds Till", "York Till"]);
  });

  it("counts by titles of reminders, and of one that ended before it was notified", () => {
    const reminder =
      "*🔴 Reminder: 2 recordings still offline · Leeds — for 24 s*\n*Till* offline since 21:41 GMT (24 s)";
    const late = "*⚪ Till was offline · Leeds — recovered after 6 s*\nWas offline 21:42:25–21:42:31 GMT";
    const own =
      "*✅ Notifications to team-1 / slack recovered — after 21 s*\n*team-1 / slack* recovered, was 21:41–21:42 (21 s)";
    const totals = [reminder, late, own].map((text) => readSlack(text).total);
    expect(totals).toEqual([{ offline: 2 }, { back: 1 }, {}]);
  });

  it("reads spans to the second", async () => {
    const spans = [400, 12_500, 75_000].map((ms) => alertOf(`For ${ms}`, { startsAt: NOW - ms }));
    for (const { lines } of await readings({ firing: spans }))
      expect(lines.map(({ lastedMs }) => lastedMs).sort((a, b) => a - b)).toEqual([0, 12_000, 75_000]);
  });

  it("recognises the service and the integrations by name", async () => {
    const service = otherAlert("service", "analytics", { alertname: "ServiceUnreachable" });
    const slack = otherAlert("integration", "ops/slack/0", { alertname: "NotificationsFailing" });
    for (const { lines, unreadable } of await readings({ firing: [service, slack] })) {
      expect(unreadable).toEqual([]);
      expect(lines.map(({ subject, kind }) => `${kind}: ${subject}`).sort()).toEqual([
        "firing: Analytics service",
        "firing: ops / slack / 0",
      ]);
    }
    const over = { state: "resolved", endsAt: NOW, endReason: "recovered", isNew: true } as const;
    for (const { lines, unreadable } of await readings({
      resolved: [
        { ...slack, ...over },
        { ...service, ...over, isNew: false },
      ],
    })) {
      expect(unreadable).toEqual([]);
      expect(lines.map(({ kind }) => kind).sort()).toEqual(["late", "recovered"]);
    }
  });

  it("recognises flapping, and the status when steady", async () => {
    const flapping = (name: string, changes: Partial<NotifiedAlert>) =>
      alertOf(name, { labels: { alertname: "RecordingFlapping" }, ...changes });
    const facts = {
      timezone: "Europe/London",
      problem: "flapping",
      changes: 4,
      changesSince: NOW - 4 * MINUTE,
    } as const;
    const ended = { state: "resolved", endsAt: NOW, endReason: "recovered", isNew: false } as const;
    const changes = {
      reason: "more",
      firing: [flapping("Till 3", { facts }), flapping("Roof", { facts, isNew: false })],
      resolved: [flapping("Yard", { ...ended, facts: { ...facts, status: "offline", statusSince: NOW - 2 * MINUTE } })],
    } as const;
    for (const { lines, unreadable } of await readings(changes)) {
      expect(unreadable).toEqual([]);
      expect(lines.map(({ subject, kind, state }) => [subject, kind, state])).toEqual([
        ["Till 3", "flapping", undefined],
        ["Roof", "still_flapping", undefined],
        ["Yard", "steady", "offline"],
      ]);
    }
  });

  it("reads a summary: locations that are counted, and the recording that is alone at its location", async () => {
    const at = (locationName: number, name: string, of = alertOf) =>
      of(name, { labels: { location: `Shop ${locationName}`, location_id: `5f${locationName}` } });
    const many = Array.from({ length: 30 }, (_, i) => i);
    const firing = [...many.map((i) => at(i % 6, `Camera ${i}`)), at(9, "Shop 9 Back door")];
    const resolved = [...many.map((i) => at(20 + (i % 6), `Other ${i}`, endedOf)), at(29, "Shop 29 Roof", endedOf)];
    for (const read of await readings({ reason: "more", groups: 14, firing, resolved })) {
      expect(read.unreadable).toEqual([]);
      expect(read.total).toEqual({ offline: 31 });
      expect(read.lines.map(({ subject, kind }) => [subject, kind])).toEqual([
        ["Shop 9 Back door", "firing"],
        ["Shop 29 Roof", "recovered"],
      ]);
      expect(read.counted).toHaveLength(12);
      expect(read.counted).toContainEqual({ locationName: "Shop 3", kind: "firing", count: 5 });
      expect(read.counted).toContainEqual({ locationName: "Shop 23", kind: "recovered", count: 5 });
    }
    const isOver = await readings({ reason: "resolved", groups: 14, resolved });
    expect(isOver.map(({ total }) => total)).toEqual([{ back: 31 }, { back: 31 }]);
  });

  it("reads two problems of one location, each with its count", async () => {
    const far = Array.from({ length: 20 }, (_, i) =>
      alertOf(`Far ${i}`, { labels: { location: "Far", location_id: "5f2" } }),
    );
    const firing = [
      ...far,
      alertOf("Till 3"),
      alertOf("Till 4"),
      alertOf("Roof", { labels: { alertname: "RecordingFlapping", severity: "warning" } }),
    ];
    for (const { counted } of await readings({ groups: 12, firing }))
      expect(counted).toEqual([
        { locationName: "Far", kind: "firing", count: 20 },
        { locationName: "Leeds Briggate", kind: "firing", count: 2 },
        { locationName: "Leeds Briggate", kind: "flapping", count: 1 },
      ]);
  });

  it("reads what is back and may fail again as told of, by name and by location", async () => {
    const clearing = { facts: { ...alertOf("A").facts, clearing: true } };
    for (const { lines, total, unreadable } of await readings({
      firing: [alertOf("Till 3"), alertOf("Till 4", clearing)],
    })) {
      expect({ total, unreadable }).toEqual({ total: { offline: 1 }, unreadable: [] });
      expect(lines.map(({ subject, kind, isClearing = false }) => [subject, kind, isClearing])).toEqual([
        ["Till 3", "firing", false],
        ["Till 4", "firing", true],
      ]);
    }
    for (const { lines, total, unreadable } of await readings({ firing: [alertOf("Till 4", clearing)] })) {
      expect({ total, unreadable }).toEqual({ total: {}, unreadable: [] });
      expect(lines).toEqual([{ subject: "Till 4", kind: "firing", lastedMs: 0, beganMinute: 5, isClearing: true }]);
    }
    const at = (shop: number) => ({ labels: { location: `Shop ${shop}`, location_id: `5f${shop}` } });
    const firing = [1, 2, 3].flatMap((shop) => [
      ...Array.from({ length: 5 }, (_, i) =>
        alertOf(`Camera ${shop} ${i}`, { ...at(shop), ...(shop > i ? clearing : {}) }),
      ),
      ...Array.from({ length: 5 }, (_, i) => alertOf(`Back ${shop} ${i}`, { ...at(shop + 10), ...clearing })),
    ]);
    for (const { counted, total, unreadable } of await readings({ groups: 6, firing })) {
      expect({ total, unreadable }).toEqual({ total: { offline: 9, recovering: 21 }, unreadable: [] });
      expect(counted).toContainEqual({ locationName: "Shop 2", kind: "firing", count: 5, recovering: 2 });
      expect(counted).toContainEqual({ locationName: "Shop 12", kind: "firing", count: 5, recovering: 5 });
    }
  });

  it("counts what recovered by a title about something new, where its list is cut", async () => {
    const shop = (i: number) => ({ labels: { location: `Shop ${i}`, location_id: `5f${i}` } });
    const resolved = Array.from({ length: 24 }, (_, i) => endedOf(`Camera ${i}`, shop(i % 12)));
    for (const { cut, total } of await readings({ reason: "more", groups: 13, firing: [alertOf("Till 3")], resolved }))
      expect({ cut, total }).toEqual({ cut: ["recovered"], total: { offline: 1, back: 24 } });
  });

  it("names the kind of a cut list, and refuses a message without lines", async () => {
    const firing = Array.from({ length: 900 }, (_, i) => alertOf(`Camera ${i}`));
    for (const { cut, total } of await readings({ firing })) {
      expect(cut).toEqual(["firing"]);
      expect(total).toEqual({ offline: 900 });
    }
    expect(readSlack("*What?*").unreadable).toEqual(["What?"]);
    expect(readMail("What?\n").unreadable).toEqual(["What?"]);
    expect(readSlack("*What?*\n*Till 3* · is on fire").unreadable).toEqual(["Till 3: is on fire"]);
  });
});
