import { describe, expect, it } from "vitest";
import type { Notification } from "../../src/alerting/model.ts";
import { count as figure } from "../../src/lib/format.ts";
import { renderEmail } from "../../src/notify/email/render.ts";
import type { OutgoingMail } from "../../src/notify/email/transport.ts";
import { alertOf, endedOf, notificationOf, otherAlert } from "./fixtures.ts";

const ADDRESSES = {
  from: "lenswatch <lenswatch@Example.com>",
  sender: "lenswatch@Example.com",
  to: ["a@example.com", "b@example.com"],
  recipient: "b@example.com",
};

function mail(changes: Partial<Notification>): OutgoingMail {
  return renderEmail(notificationOf(changes), ADDRESSES);
}

/** What a reader of the HTML reads. */
function words(html: string | undefined): string {
  return (html ?? "")
    .replace(/<head>[\s\S]*<\/head>/, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/&nbsp;/g, " ")
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, "&")
    .replace(/\s+/g, " ");
}

describe("a mail about a group", () => {
  const group = {
    reason: "more",
    firing: [
      alertOf("Till 3", { isNew: false, annotations: { description: "Pulled & gone.", zones: "Entrance" } }),
      alertOf("Till 4"),
    ],
    resolved: [endedOf("Back door"), endedOf("Roof", { endReason: "no_longer_watched" })],
  } as const;

  it("has the same content in text and in HTML", () => {
    const { text, html } = mail(group);
    const read = words(html);
    const lines = text.split("\n").map((line) => line.trim());
    for (const line of lines.filter((each) => each !== "" && !each.includes("https://"))) {
      expect(read).toContain(line);
    }
    for (const [, url] of text.matchAll(/: (https:\S+)/g)) {
      expect(html).toContain(`href="${url?.replaceAll("&", "&amp;")}"`);
    }
  });

  it("lists new, ongoing and resolved alerts as text", () => {
    const { text } = mail({ ...group, externalUrl: undefined });
    expect(text).toBe(`🔴 2 recordings offline · Leeds Briggate — 1 new, 1 recovered, 1 no longer watched

New (1)

Till 4
  offline since 14:05 GMT (12 m)

Still firing (1)

Till 3
  offline since 14:05 GMT (12 m)
  Pulled & gone.
  Zone Entrance

Resolved (2)

Back door
  recovered, was offline 14:05–14:14 GMT (9 m)

Roof
  no longer watched; offline when last read, 14:05–14:14 GMT (9 m)
`);
  });

  it("previews what its subject does not say", () => {
    const preview = (changes: Partial<Notification>) =>
      words(/<body[^>]*>\s*<div [^>]*>([^<]*)<\/div>/.exec(mail(changes).html ?? "")?.[1]?.split("&#847;")[0]);
    expect(preview({ firing: [alertOf("Till 3", { annotations: { description: "Pulled & gone." } })] })).toBe(
      "Since 14:05 GMT (12 m) · Pulled & gone.",
    );
    expect(preview(group)).toMatch(
      /^New \(1\) · Till 4: offline since 14:05 GMT \(12 m\) · Still firing \(1\) · Till 3/,
    );
  });

  it("loads nothing from anywhere", () => {
    const { html } = mail(group);
    expect(html).not.toMatch(/<(?:img|link|script|iframe|object|svg)\b|\bsrc=|url\(|@import/i);
  });

  it("shows by its colour how bad it is", () => {
    const service = otherAlert("service", "service", { alertname: "ServiceUnreachable" });
    expect(mail({ firing: [service] }).html).toContain("background:#d32f2f");
    expect(mail({ resolved: [endedOf("A")] }).html).toContain("background:#2e9e5b");
    expect(mail({ resolved: [endedOf("A", { endReason: "expired" })] }).html).not.toContain("#2e9e5b");
  });

  it.each([100, 10_000])("stays short enough not to be clipped with %i alerts, and counts all of them", (count) => {
    const long = (i: number, text: string) => text.repeat(395) + i;
    const firing = Array.from({ length: count }, (_, i) =>
      alertOf(`Camera ${i}`, {
        annotations: { summary: long(i, "s"), description: long(i, "d"), zones: long(i, "z") },
      }),
    );
    const { html = "", text, subject } = mail({ firing });
    const named = [...text.matchAll(/^Camera \d+$/gm)].length;
    expect(subject).toBe(`🔴 ${figure(count)} recordings offline · Leeds Briggate`);
    expect(Buffer.byteLength(html)).toBeLessThan(102_000);
    expect(named).toBeGreaterThanOrEqual(20);
    expect(text).toContain(`and ${figure(count - named)} more`);
    expect(words(html)).toContain(`and ${figure(count - named)} more`);
  });

  it.each([
    ["lenswatch@Example.com", "@example.com>"],
    ["lenswatch@[127.0.0.1]", "@lenswatch.invalid>"],
    ["postmaster", "@postmaster>"],
    ["a@b\r\nBcc: x", "@lenswatch.invalid>"],
  ])("has a valid Message-ID when sent by %j", (sender, end) => {
    const { messageId } = renderEmail(notificationOf(), { ...ADDRESSES, sender });
    expect(messageId).toMatch(/^<[A-Za-z0-9._-]+@[a-z0-9.-]+>$/);
    expect(messageId.endsWith(end)).toBe(true);
  });
});
