import { createRequire } from "node:module";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { WantedSilence } from "../../../src/alerting/silence.ts";
import { largeFleet } from "../../metrics/fleets.ts";
import { chromiumPath, noChromium, openPage, startBrowser } from "../../support/browser.ts";
import { ackDone, serve } from "../serve.ts";
import { active, alertOf, dark, everything, pages, smallFleet } from "./fleet.ts";
import { signedIn } from "./visitor.ts";

const title = chromiumPath === undefined ? `in a browser (skipped: ${noChromium})` : "in a browser";

const phone = { width: 320, height: 640 };
const wide = { width: 1280, height: 800 };

const refused: readonly string[] = [pages["wrong-silence"], pages.nothing];

/** axe's findings by WCAG 2.2, levels A and AA: the rule, and the element. At night nothing but the colours differs. */
const axeFor = (colorScheme: "light" | "dark") => {
  const runOnly =
    colorScheme === "dark" ? ["color-contrast"] : ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
  return `axe.run(document, { runOnly: ${JSON.stringify(runOnly)}, resultTypes: ["violations"] }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ": " + target)))`;
};

describe.skipIf(chromiumPath === undefined)(title, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());

  const long = "Wednesbury-Great-Western-Street-Extension".repeat(3);
  test("every page fits a phone and a wide screen, and can be read by day and at night", async () => {
    const { address } = await serve({ ...everything(long), adminToken: "boss-token" });
    const { page, complaints } = await openPage(browser, { viewport: phone });
    await page.addInitScript({ path: createRequire(import.meta.url).resolve("axe-core/axe.min.js") });
    const { cookie } = await signedIn(address, "boss-token", "W".repeat(80));
    const [name = "", value = ""] = cookie.split(/=(.*)/s);
    await page.context().addCookies([{ name, value, url: address }]);
    const findings: string[] = [];
    for (const path of Object.values(pages)) {
      const answer = await page.goto(address + path);
      if (refused.includes(path)) complaints.splice(0);
      else expect(answer?.status(), path).toBe(200);
      await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
      for (const colorScheme of ["dark", "light"] as const) {
        await page.emulateMedia({ colorScheme });
        const found = await page.evaluate<string[]>(axeFor(colorScheme));
        findings.push(...found.map((one) => `${path} ${colorScheme} ${one}`));
      }
      for (const viewport of [wide, phone]) {
        await page.setViewportSize(viewport);
        const over = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
        expect(over, `${path} is too wide`).toBeLessThanOrEqual(0);
      }
    }
    expect(findings).toEqual([]);
    await page.goto(address);
    const middles = "['bdi', 'button'].map((one) => document.querySelector('.who ' + one).getBoundingClientRect())";
    const [who = 0, out = 99] = await page.evaluate<number[]>(`${middles}.map((box) => box.y + box.height / 2)`);
    expect(Math.abs(who - out), "the name and Sign out on one line").toBeLessThan(1.2);
    for (const [colorScheme, colour] of [
      ["dark", "rgb(17, 22, 27)"] as const,
      ["light", "rgb(243, 245, 248)"] as const,
    ]) {
      await page.emulateMedia({ colorScheme });
      expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe(colour);
    }
    expect(complaints).toEqual([]);
  });

  test("nothing of the header is over another part, or broken, at any width", async () => {
    const { address } = await serve({ fleet: async () => smallFleet, adminToken: "boss-token" });
    const { page } = await openPage(browser, { viewport: phone });
    const parts = "[...document.querySelectorAll('header a:not(.brand), header input, header button')]";
    const boxes = `${parts}.map((one) => one.getBoundingClientRect().toJSON())`;
    await page.goto(address);
    for (const width of [320, 400, 500, 800]) {
      await page.setViewportSize({ width, height: 640 });
      const all = await page.evaluate<Record<"left" | "right" | "top" | "bottom" | "height", number>[]>(boxes);
      const over = all.filter((a, i) =>
        all.slice(i + 1).some((b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom),
      );
      expect(all).toHaveLength(7);
      expect(over).toEqual([]);
      expect(Math.max(...all.map(({ height }) => height))).toBeLessThan(40);
      expect((await page.locator(".brand").boundingBox())?.height).toBeLessThan(40);
      expect(new Set(all.slice(0, 3).map(({ top }) => top)).size, "the links are on one line").toBe(1);
    }
  });

  test("its tables are still tables to a screen reader on a phone", async () => {
    const { address } = await serve({ fleet: async () => smallFleet, alerts: active(dark) });
    const { page } = await openPage(browser, { viewport: phone });
    await page.goto(`${address}/?location=leeds`);
    const table = page.getByRole("table", { name: "Recordings, the worst first" });
    expect(await table.getByRole("row").count()).toBe(3);
    expect(await table.getByRole("columnheader").count()).toBe(6);
    expect(await table.getByRole("rowheader", { name: "Till 3" }).count()).toBe(1);
    expect(await page.getByRole("main").count()).toBe(1);
    expect(await page.getByRole("navigation", { name: "Pages" }).count()).toBe(1);
  });

  test("everything is found with the keyboard alone", async () => {
    const { address } = await serve({ fleet: async () => smallFleet, alerts: active(dark) });
    const { page } = await openPage(browser, { viewport: wide });
    await page.goto(address);
    const focused = () => page.evaluate<string>("document.activeElement.textContent.trim()");
    await page.keyboard.press("Tab");
    expect(await focused()).toBe("To the content");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    while ((await focused()) !== "Till 3") await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${address}/recordings/till-3`);
    expect(await page.title()).toBe("Offline · Till 3 · lenswatch");
  });

  test("an alert is acknowledged and silenced with the keyboard alone, from signing in on", async () => {
    const changes: unknown[] = [];
    let acknowledgement: { author: string; comment: string; at: number } | undefined;
    const { address } = await serve({
      adminToken: "boss-token",
      fleet: async () => smallFleet,
      alerts: async () => [{ alert: dark, receivers: ["ops"], acknowledgement }],
      acknowledge: async (_, by) => {
        acknowledgement = { ...by, at: smallFleet.now };
        return ackDone;
      },
      setSilence: async (wanted) => {
        changes.push(wanted);
        return { outcome: "set", id: "s1" };
      },
    });
    const { page, complaints } = await openPage(browser, { viewport: phone });
    const focused = () =>
      page.evaluate<string>("document.activeElement.textContent.trim() || document.activeElement.id");
    const tabTo = async (words: string) => {
      for (let i = 0; i < 60 && (await focused()) !== words; i++) await page.keyboard.press("Tab");
      expect(await focused()).toBe(words);
    };
    const press = async (words: string) => {
      await tabTo(words);
      await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
    };
    await page.goto(`${address}/recordings/till-3`);
    await press("Sign in to acknowledge");
    await page.locator("input[name=name]:focus").waitFor();
    await page.keyboard.type("dana");
    await tabTo("token");
    await page.keyboard.type("boss-token");
    await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
    expect(page.url()).toBe(`${address}/recordings/till-3`);
    await press("Acknowledge");
    expect(page.url()).toBe(`${address}/recordings/till-3`);
    await page.getByText("Acknowledged by dana since 12:00 GMT").waitFor();
    await press("Silence…");
    await page.getByText("It would suppress 1 alert of 1 active now; its matchers cover 1 of 6 recordings.").waitFor();
    await press("4 hours");
    await tabTo("comment");
    await page.keyboard.type("rewiring");
    // Enter in a field sends nothing.
    await page.keyboard.press("Enter");
    expect(changes).toEqual([]);
    await press("Silence 1 alert for 4 h");
    expect(page.url()).toBe(`${address}/?show=silences`);
    expect(changes).toMatchObject([
      {
        createdBy: "dana",
        comment: "rewiring",
        endsAt: smallFleet.now + 4 * 3_600_000,
      } satisfies Partial<WantedSilence>,
    ]);
    await press("Sign out");
    await page.getByRole("link", { name: "Sign in" }).waitFor();
    expect(complaints).toEqual([]);
  });

  test("10,000 recordings at 1,000 locations are few bytes and few elements", async () => {
    const fleet = largeFleet(10_000, 10);
    const offline = fleet.shards.flatMap(({ recordings }) =>
      [...recordings.values()].filter(({ status }) => status === "offline"),
    );
    const alerts = offline.map(({ id, locationId }, i) =>
      alertOf("RecordingOffline", {
        id: `a${i}`,
        key: `RecordingOffline/recording/${id}`,
        subject: { kind: "recording", id },
        labels: { alertname: "RecordingOffline", severity: "critical", recording_id: id, location_id: locationId },
      }),
    );
    const { address } = await serve({ fleet: async () => fleet, alerts: active(...alerts) });
    const [first] = offline;
    for (const path of ["/", "/?show=locations", "/?q=camera", `/?location=${first?.locationId}`]) {
      const response = await fetch(address + path, { headers: { "accept-encoding": "gzip" } });
      const bytes = Number(response.headers.get("content-length"));
      const html = await response.text();
      expect(bytes, path).toBeLessThan(20_000);
      expect(html.match(/<[a-z]/g)?.length, path).toBeLessThan(3_000);
    }
  });

  test("a search leads to what it finds", async () => {
    const { address } = await serve({ fleet: async () => smallFleet });
    const { page, complaints } = await openPage(browser, { viewport: phone });
    await page.goto(address);
    await page.getByRole("searchbox").fill("till");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${address}/recordings/till-3`);
    await page.getByRole("link", { name: "Leeds Briggate" }).click();
    await page.waitForURL(`${address}/?location=leeds`);
    expect(complaints).toEqual([]);
  });
});
