import { expect, test } from "vitest";
import type { StandsFor } from "../../src/alerting/notification.ts";
import { renderEmail } from "../../src/notify/email/render.ts";
import { renderSlack } from "../../src/notify/slack/render.ts";
import { standsForNote } from "../../src/notify/stands-for.ts";
import { limitsBroken, type SlackBody } from "../support/slack-sink.ts";
import { notificationOf, otherAlert } from "./fixtures.ts";

const shop = (standsFor: StandsFor) =>
  otherAlert(
    "location",
    "5f00000000000000000000aa",
    { alertname: "LocationOffline", location: "Leeds Briggate", location_id: "5f00000000000000000000aa" },
    { standsFor, facts: { timezone: "UTC", offline: 4, of: 4 } },
  );

const four = { recordings: 4, locations: 0, names: ["Door", "Entrance", "Tills", "Yard"] };

test.each<[StandsFor, string | undefined]>([
  [four, "Stands for 4 recordings: Door, Entrance, Tills, Yard"],
  [{ recordings: 1, locations: 0, names: ["Door"] }, "Stands for 1 recording: Door"],
  [
    { recordings: 1_200, locations: 3, names: ["Door"] },
    "Stands for 1,200 recordings and 3 locations: Door and 1199 more",
  ],
  [{ recordings: 0, locations: 2, names: ["Leeds"] }, "Stands for 2 locations: Leeds and 1 more"],
  [{ recordings: 2, locations: 0, names: ["\u200b", ""] }, "Stands for 2 recordings"],
  [{ recordings: 0, locations: 0, names: [] }, undefined],
])("%o reads %s", (standsFor, words) => {
  expect(standsForNote(shop(standsFor))).toBe(words);
});

test("the service does not stand for recordings: it holds news of them back", () => {
  const blind = otherAlert("service", "service", { alertname: "ServiceUnreachable" }, { standsFor: four });
  expect(standsForNote(blind)).toBe("Until this is over, alerts of 4 recordings are held back.");
});

test("a location whose recordings' alerts still wait names those that are dark", () => {
  const facts = { timezone: "UTC", offline: 3, of: 4, offlineNames: ["Door", "Tills"] };
  expect(standsForNote(otherAlert("location", "x", {}, { facts }))).toBe("Offline: Door, Tills and 1 more");
});

test("an alert that holds nothing back says nothing of it", () => {
  expect(standsForNote(otherAlert("location", "x", {}))).toBeUndefined();
});

test("names are shown in Slack and by mail as they are, whatever they would do, within the limits", () => {
  const names = Array.from({ length: 12 }, (_, i) => `<!channel> *${i}* <b>${"x".repeat(90)}</b>\n`);
  const notification = notificationOf({ firing: [shop({ recordings: 500, locations: 0, names })] });
  const payload = renderSlack(notification);
  expect(limitsBroken(payload as SlackBody)).toEqual([]);
  const text = JSON.stringify(payload);
  expect(text).toContain("Stands for 500 recordings");
  expect(text).not.toContain("<!channel>");
  const addresses = {
    from: "a@b.example",
    sender: "a@b.example",
    to: ["c@d.example"],
    recipient: "c@d.example",
  };
  const { html, text: plain } = renderEmail(notification, addresses);
  expect(html).toContain("Stands for 500 recordings: &lt;!channel&gt;");
  expect(html).not.toContain("<b>x");
  expect(plain).toContain("Stands for 500 recordings: <!channel> *0*");
});
