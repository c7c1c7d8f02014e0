import { expect, test } from "vitest";
import type { StandsFor } from "../../src/alerting/model.ts";
import { renderEmail } from "../../src/notify/email/render.ts";
import { notesOf } from "../../src/notify/notes.ts";
import { renderSlack } from "../../src/notify/slack/render.ts";
import { limitsBroken, type SlackBody } from "../support/slack-sink.ts";
import { notificationOf, otherAlert } from "./fixtures.ts";

const location = (standsFor: StandsFor) =>
  otherAlert(
    "location",
    "5f00000000000000000000aa",
    { alertname: "LocationOffline", location: "Leeds Briggate", location_id: "5f00000000000000000000aa" },
    { standsFor, facts: { timezone: "UTC", offline: 4, of: 4 } },
  );

const four = { recordings: 4, locations: 0, names: ["Door", "Entrance", "Tills", "Yard"] };

test.each<[StandsFor, string | undefined]>([
  [four, "Covers 4 recordings: Door, Entrance, Tills, Yard"],
  [{ recordings: 1, locations: 0, names: ["Door"] }, "Covers 1 recording: Door"],
  [
    { recordings: 1_200, locations: 3, names: ["Door"] },
    "Covers 1,200 recordings and 3 locations: Door and 1,199 more",
  ],
  [{ recordings: 0, locations: 2, names: ["Leeds"] }, "Covers 2 locations: Leeds and 1 more"],
  [{ recordings: 2, locations: 0, names: ["\u200b", ""] }, "Covers 2 recordings"],
  [{ recordings: 0, locations: 0, names: [] }, undefined],
])("%o reads %s", (standsFor, words) => {
  expect(notesOf(location(standsFor))).toEqual(words === undefined ? [] : [words]);
});

test("an unreachable service suppresses the alerts of recordings", () => {
  const service = otherAlert("service", "service", { alertname: "ServiceUnreachable" }, { standsFor: four });
  expect(notesOf(service)).toEqual(["Alerts of 4 recordings are suppressed until this is resolved."]);
});

test("a location whose recordings have no alerts yet names those that are offline", () => {
  const facts = { timezone: "UTC", offline: 3, of: 4, offlineNames: ["Door", "Tills"] };
  expect(notesOf(otherAlert("location", "x", {}, { facts }))).toEqual(["Offline: Door, Tills and 1 more"]);
});

test("an alert that inhibits no other has no such note", () => {
  expect(notesOf(otherAlert("location", "x", {}))).toEqual([]);
});

test("hostile names appear literally in Slack and mail, within the limits", () => {
  const names = Array.from({ length: 12 }, (_, i) => `<!channel> *${i}* <b>${"x".repeat(90)}</b>\n`);
  const notification = notificationOf({ firing: [location({ recordings: 500, locations: 0, names })] });
  const payload = renderSlack(notification);
  expect(limitsBroken(payload as SlackBody)).toEqual([]);
  const text = JSON.stringify(payload);
  expect(text).toContain("Covers 500 recordings");
  expect(text).not.toContain("<!channel>");
  const addresses = { from: "a@b.example", sender: "a@b.example", to: ["c@d.example"], recipient: "c@d.example" };
  const { html, text: plain } = renderEmail(notification, addresses);
  expect(html).toContain("Covers 500 recordings: &lt;!channel&gt;");
  expect(html).not.toContain("<b>x");
  expect(plain).toContain("Covers 500 recordings: <!channel> *0*");
});
