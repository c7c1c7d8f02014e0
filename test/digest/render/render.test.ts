import { describe, expect, test } from "vitest";
import { forReader, MAX_BYTES, renderDigest } from "../../../src/digest/mail.ts";
import { digestPeriod } from "../../../src/digest/period.ts";
import { MAX_SUBJECT } from "../../../src/digest/render/subject.ts";
import { computeDigest, type DigestInput } from "../compute-digest.ts";
import { at, day, episode, HOUR, hours, input, locationOffline, MINUTE, offline, subject } from "../fixtures.ts";

function render(over: Partial<DigestInput>, externalUrl: string | undefined = "https://lenswatch.example.com") {
  return renderDigest(computeDigest(input(over)), { name: "daily-ops", externalUrl });
}

/** The visible text of the HTML. */
function visible(html: string): string {
  return html
    .replace(/<head>.*<\/head>/s, "")
    .replace(/<div class="preview".*?<\/div>/s, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/&nbsp;|&#9632;/g, " ")
    .replaceAll("\u00a0", " ")
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");
}

const badDay: Partial<DigestInput> = {
  recordings: [
    ...["a", "b"].map((id) => subject(id)),
    subject("c", { locationName: "York Coney Street", status: "offline", since: at("22:40") }),
    ...["d", "e"].map((id) => subject(id, { locationName: "York Coney Street" })),
    subject("f", { locationName: "Bath", status: "unknown", since: 0 }),
  ],
  uptime: new Map([
    ["a", hours(at("00:00"), [...Array(14).fill(1), 0.1, 0, 0, 0.3, 1, 1, 1, 1, 1, 1])],
    ["d", day(0.734)],
    ["e", day(0.9987)],
  ]),
  episodes: [
    offline("a", at("14:05"), at("17:40")),
    offline("b", at("14:06"), at("17:41")),
    locationOffline("leeds-briggate", at("14:05"), at("17:40")),
    offline("c", at("22:40")),
    offline("d", at("03:00"), at("03:12")),
    episode("low_quality", "e", at("08:00"), at("09:30")),
  ],
  unreachable: [{ from: at("10:00"), to: at("10:40") }],
};

const mail = await render(badDay);

describe("the bad day", () => {
  test("has a subject that an inbox shows", () => {
    expect(mail.subject).toBe("1 camera down now, 2 locations lost 8 h 42 m · Thu 19 Nov");
  });

  test("reads well as text", () => expect(mail.text).toMatchFileSnapshot("bad-day.txt"));

  test("has the same figures in HTML", () => {
    const figures = (text: string) =>
      (text.match(/\d[\d,.:]*(?: (?:[dhms]\b|[%×]))?/g) ?? []).map((one) => one.replace(/[,.:]$/, "")).sort();
    const html = mail.html.replace(/<table[^>]*class="days".*?<\/table>/s, "");
    const text = mail.text
      .replace(/^(Locations by day.*\n)[\s\S]*?\n\n/m, "$1\n")
      .replaceAll(/^(.*), Thu 19 Nov:/gm, "$1:");
    expect(figures(visible(html))).toEqual(figures(text));
  });

  test("has a figure for each day of a location, and a dash where there is none", () => {
    const days = visible(/<table[^>]*class="days".*?<\/table>/s.exec(mail.html)?.[0] ?? "").replaceAll("&ndash;", "–");
    expect(days).toMatch(/Leeds Briggate\s+85 % up\s+(–\s+){6}85\s+York Coney Street\s+86.6 % up\s+(–\s+){6}86/);
  });

  test("is whole HTML that loads nothing", () => {
    for (const tag of ["table", "tr", "td", "div", "span", "h1", "h2", "p", "a"]) {
      const opened = mail.html.match(new RegExp(`<${tag}[ >]`, "g"))?.length;
      expect([tag, mail.html.match(new RegExp(`</${tag}>`, "g"))?.length]).toEqual([tag, opened]);
    }
    expect(mail.html).not.toMatch(/<(script|img|svg|link|iframe)|url\(|@import|src=/i);
  });

  test("has its styles in the elements, and in the head only those that cannot be inlined", () => {
    const [head = "", body = ""] = mail.html.split("</head>");
    expect(head.match(/<style>/g)).toHaveLength(1);
    expect(head.replace(/@media[^{]*\{(?:[^{}]*\{[^{}]*\})*\s*\}/g, "")).toMatch(/<style>:root \{[^{}]*\}\s*<\/style>/);
    const classed = [...body.matchAll(/<(?!\/)[^>]* class="([^"]*)"[^>]*>/g)];
    expect(classed.length).toBeGreaterThan(40);
    expect(classed.filter(([tag, name]) => name !== "plain" && !/ style="[^"]+"/.test(tag))).toEqual([]);
  });
});

test("no data is a blank, never 0 % and never 100 %", async () => {
  const recordings = ["a", "b"].map((id) => subject(id, { status: "unknown", since: 0 }));
  const { html, text, subject: line } = await render({ recordings });
  expect(line).toBe("No data for 2 cameras · Thu 19 Nov");
  expect(text).toContain("Uptime:    –\nDowntime:  –\nIncidents: –\nMTTR:      –\n");
  expect(text).not.toContain("%");
  expect(visible(html)).not.toContain("%");
});

const evil = [
  `<script>alert(1)</script>`,
  `"><img src=x onerror='alert(1)'>`,
  "\u202egpj.exe\u2066\u200f\u0000\u001b[31m",
  "Till\r\nBcc: everybody@example.com\r\n\r\n<b>",
  "x".repeat(10_000),
  "&lt;b&gt;",
  "\ud83d",
  "",
];
const hostile: Partial<DigestInput> = {
  recordings: evil.map((name, i) =>
    subject(`<i>${i}`, { name, locationName: evil[(i + 1) % evil.length] ?? "", locationId: `<l>${i}` }),
  ),
  timezone: "Europe/London",
  uptime: new Map(evil.map((_, i) => [`<i>${i}`, day(0.5)])),
  episodes: [
    ...evil.flatMap((_, i) =>
      [10, 12, 14, 16].map((hour) => offline(`<i>${i}`, at(`${hour}:00`), at(`${hour + 1}:00`) + i * MINUTE)),
    ),
    ...evil.map((_, i) => locationOffline(`<l>${i}`, at("20:00"), at("21:00") + i * MINUTE)),
    { ...episode("low_quality", "<i>0", at("10:00"), at("11:00")), problem: undefined, alertname: "<u>Low" },
  ],
};
const { subject: line, html: daily, text } = await render(hostile);
const { html: monthly } = await render({
  ...hostile,
  period: digestPeriod("1mo", at("2026-12-01T08:00:00Z"), "Europe/London"),
  now: at("2026-12-01T08:00:00Z"),
});

describe("hostile names", () => {
  test("are in every part of the mail", () => {
    const parts = ["What happened", "Locations by day", "visitor counts"];
    expect(parts.filter((part) => !daily.includes(part))).toEqual([]);
    expect(monthly).toMatch(/<table role="img" aria-label="[^"]*&lt;script&gt;/);
  });

  test.each([
    ["a day", daily],
    ["a month", monthly],
  ])("add no tag and no attribute to the digest of %s", (_, html) => {
    const known = new Set("html head meta title style body div table tr td th h1 h2 p span a br".split(" "));
    const tags = [...html.matchAll(/<\/?([a-z][a-z0-9]*)/gi)].map(([, tag]) => tag ?? "");
    expect(tags.filter((tag) => !known.has(tag))).toEqual([]);
    const attributes = [...html.replace(/="[^"]*"/g, "=").matchAll(/<[a-z0-9]+((?: [a-z-]+=)*)>/g)];
    expect(attributes).toHaveLength(tags.length - (html.match(/<\//g)?.length ?? 0));
    expect(attributes.map(([, names]) => names).join("")).not.toMatch(/ (on|src|srcset|action)/);
    expect(html).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
    expect(html).toContain("&amp;lt;b&amp;gt;");
  });

  test("bring no control character, no change of direction and no line of their own", () => {
    for (const part of [line, daily, monthly, text]) {
      expect(part.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u200b-\u200f\u202a-\u202e\u2066-\u2069]/u);
      expect(part.isWellFormed()).toBe(true);
    }
    expect(line).not.toContain("\n");
    expect(text).not.toMatch(/^Bcc:/m);
  });

  test("are cut", () => {
    expect(daily + monthly).not.toContain("x".repeat(61));
    expect([...line].length).toBeLessThanOrEqual(MAX_SUBJECT);
  });
});

test.each([["javascript:alert(1)"], ["data:text/html,x"], [undefined]])("there is no link to %s", async (url) => {
  const { html, text } = await renderDigest(computeDigest(input(badDay)), { name: "daily-ops", externalUrl: url });
  expect(html).not.toContain("<a ");
  expect(text).not.toContain("Open the status page");
});

describe("10,000 recordings", () => {
  const name = `😀<&'"`.repeat(40);
  const recordings = Array.from({ length: 10_000 }, (_, i) =>
    subject(`${i}`, { name: `${i}${name}`, locationName: `${Math.floor(i / 4)}${name}` }),
  );
  const flaps = (id: string) =>
    Array.from({ length: Number(id) < 500 ? 24 : 1 }, (_, hour) =>
      offline(id, at("00:35") + hour * HOUR, at("00:50") + hour * HOUR),
    );

  test("all in trouble at once give a mail that Gmail does not clip, and all are counted", async () => {
    const [down, low] = [recordings.slice(0, 5_000), recordings.slice(5_000)];
    const { html, text } = await render({
      recordings,
      uptime: new Map(low.map(({ recording }) => [recording.id, day(0.5)])),
      episodes: down.flatMap(({ recording }) => flaps(recording.id)),
    });
    expect(Buffer.byteLength(html)).toBeLessThanOrEqual(MAX_BYTES);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_BYTES);
    expect(visible(html)).toMatch(/lost visitor counts for 171 d 21 h in all \(5,000 recordings\)/);
    expect(visible(html)).toMatch(
      /5,000 cameras at 1,250 locations offline .* and 4 more incidents .* and 4,9\d\d more in 1,2\d\d locations/s,
    );
  });

  test("that were all up are one line, and on the status page", async () => {
    const { html, subject: line } = await render({ recordings });
    expect(line).toBe("All 10,000 cameras up · Thu 19 Nov");
    expect(Buffer.byteLength(html)).toBeLessThanOrEqual(MAX_BYTES);
    expect(visible(html)).toMatch(
      /Up all the time\s+10,000\s+recordings\s+In [\d,]+\s+locations; the status page lists them/,
    );
  });
});

describe("the unsubscribe link", () => {
  const url = "https://lists.example.com/u?who=a%2Bb%40example.com&list=x'>";

  test("is at the end of HTML and text, one for each recipient", () => {
    const own = forReader(mail, url);
    expect(own.html).toContain('href="https://lists.example.com/u?who=a%2Bb%40example.com&amp;list=x&#39;&gt;"');
    expect(own.html.indexOf("Unsubscribe")).toBeGreaterThan(own.html.indexOf("Open the status page"));
    expect(own.text.endsWith(`Unsubscribe: ${url}\n`)).toBe(true);
    expect(forReader(mail, undefined).html).not.toMatch(/unsubscribe/i);
    expect(forReader(mail, undefined).text).toBe(mail.text);
  });

  test("cannot be moved by a name", async () => {
    const name = `<!--unsubscribe-->`;
    const evil = await render({ recordings: [subject("a", { name })], episodes: [offline("a", at("10:00"))] });
    const own = forReader(evil, url);
    expect(own.html.match(/Unsubscribe<\/a>/g)).toHaveLength(1);
    expect(own.html).toContain("&lt;!--unsubscribe--&gt;");
  });
});
