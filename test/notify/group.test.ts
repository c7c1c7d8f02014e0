/** The words of alerts about recordings that share a label. */
import { describe, expect, it } from "vitest";
import type { Notification, NotifiedAlert } from "../../src/alerting/notification.ts";
import { messageOf } from "../../src/notify/message.ts";
import { alertOf, endedOf, MINUTE, NOW, notificationOf, otherAlert } from "./fixtures.ts";

const server = (facts: Partial<NotifiedAlert["facts"]>, name = "edge-7", more: Partial<NotifiedAlert> = {}) =>
  otherAlert(
    "group",
    `camera_server/${name}`,
    { alertname: "CameraServerOffline", camera_server: name },
    { facts: { timezone: "Europe/London", of: 38, locations: 5, ...facts }, ...more },
  );
const on = (name: string, camera_server: string) =>
  alertOf(name, {
    labels: { alertname: "RecordingOffline", camera_server, location_id: name, location: `Shop ${name}` },
  });
const message = (changes: Partial<Notification>) => messageOf(notificationOf(changes), 50);

describe("an alert of a camera server", () => {
  it.each<[string, Partial<Notification>]>([
    ["🔴 Camera server edge-7: all 38 recordings offline at 5 locations", { firing: [server({ offline: 38 })] }],
    ["🔴 Camera server edge-7: 37 of 38 recordings offline at 5 locations", { firing: [server({ offline: 37 })] }],
    ["🔴 2 camera servers offline", { firing: [server({ offline: 38 }), server({ offline: 38 }, "edge-8")] }],
    [
      "🔴 39 recordings offline at 3 locations",
      { groups: 12, firing: [server({ offline: 38 }), on("A", "edge-7"), on("B", "edge-7"), on("C", "edge-8")] },
    ],
    [
      "⚪ Camera server edge-7 partly recovered — after 9 m, 7 recordings still offline",
      {
        resolved: [
          server({ offline: 7 }, "edge-7", {
            state: "resolved",
            startsAt: NOW - 12 * MINUTE,
            endsAt: endedOf("x").endsAt,
            endReason: "recovered",
            isNew: false,
          }),
        ],
      },
    ],
  ])("%s", (title, changes) => {
    expect(message(changes).title).toBe(title);
  });

  it("says that no other recording is offline where that is so, and leads to its recordings", () => {
    const [section] = message({
      firing: [server({ offline: 38, isAlone: true })],
      externalUrl: "https://l.example",
    }).sections;
    expect(section?.entries[0]?.notes).toContain("No other recording is offline.");
    expect(section?.entries[0]?.links).toContainEqual({ label: "Status", url: "https://l.example/?q=edge-7" });
    expect(message({ firing: [server({ offline: 38 })] }).sections[0]?.entries[0]?.notes).toEqual([]);
  });

  it("is a line of its own among locations", () => {
    const firing = [
      server({ offline: 38 }),
      server({ offline: 4 }, "edge-8"),
      ...[..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"].map((name) => on(name, "x")),
    ];
    const names = message({ groups: 20, firing }).sections.flatMap(({ entries }) => entries.map(({ name }) => name));
    expect(names.slice(0, 3)).toEqual(["Camera server edge-7", "Camera server edge-8", "Shop A"]);
  });
});
