import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { forReader, renderDigest } from "../../../src/digest/mail.ts";
import type { PeriodName } from "../../../src/digest/period.ts";
import { chromiumPath, noChromium, openPage, startBrowser } from "../../support/browser.ts";
import { FAINT } from "../../support/faint.ts";
import { sampleDigest } from "../sample.ts";

const title = chromiumPath === undefined ? `in a browser (skipped: ${noChromium})` : "in a browser";

const mails: Partial<Record<PeriodName, Promise<string>>> = {};

function mailOf(period: PeriodName): Promise<string> {
  const frame = { name: "weekly-ops", externalUrl: "https://lenswatch.example.com" };
  mails[period] ??= renderDigest(sampleDigest(period), frame).then(
    (digest) => forReader(digest, "https://lists.example.com/u").html,
  );
  return mails[period];
}

/** Colours of a screenshot at the middles of what the selectors find, `#rrggbb`. */
async function coloursAt(page: Page, selectors: readonly string[]): Promise<string[]> {
  const places: [number, number][] = [];
  for (const selector of selectors) {
    const box = await page.locator(selector).first().boundingBox();
    if (!box) throw new Error(`${selector} is not shown`);
    places.push([Math.floor(box.x + box.width / 2), Math.floor(box.y + 2)]);
  }
  const picture = (await page.screenshot({ fullPage: true })).toString("base64");
  return page.evaluate(
    `(async () => {
      const blob = await (await fetch("data:image/png;base64,${picture}")).blob();
      const bitmap = await createImageBitmap(blob);
      const canvas = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
      canvas.drawImage(bitmap, 0, 0);
      const hex = (n) => n.toString(16).padStart(2, "0");
      return ${JSON.stringify(places)}.map(([x, y]) =>
        "#" + [...canvas.getImageData(x, y, 1, 1).data].slice(0, 3).map(hex).join(""));
    })()`,
  );
}

describe.skipIf(chromiumPath === undefined)(title, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());

  async function show(html: string, width: number, colorScheme: "light" | "dark" = "light") {
    const opened = await openPage(browser, { viewport: { width, height: 800 }, colorScheme });
    const asked: string[] = [];
    opened.page.on("request", (request) => asked.push(request.url()));
    await opened.page.setContent(html);
    return { ...opened, asked };
  }

  test.each([
    ["1d", "light"],
    ["1w", "dark"],
    ["1mo", "light"],
  ] as const)(
    "a digest of %s fits every width, is readable in the %s scheme, and requests nothing",
    async (period, scheme) => {
      const { page, complaints, asked } = await show(await mailOf(period), 600, scheme);
      for (const width of [600, 390, 320]) {
        await page.setViewportSize({ width, height: 800 });
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
        const wide = `[...document.querySelectorAll("td,th,table")].filter((one) => one.scrollWidth > one.clientWidth + 1)`;
        expect(await page.evaluate(`${wide}.map((one) => one.className + one.textContent.slice(0, 40))`)).toEqual([]);
        expect(await page.evaluate(FAINT)).toEqual([]);
      }
      expect(asked).toEqual([]);
      expect(complaints).toEqual([]);
    },
  );

  test("its colours are in the picture: days, and the card on its background", async () => {
    const { page } = await show(await mailOf("1w"), 700);
    const shown = ["td.h2", "td.h5", ".card h1", ".page"];
    expect(await coloursAt(page, shown)).toEqual(["#f7bf94", "#cdead5", "#ffffff", "#f3f5f8"]);
  });

  test("in the dark scheme the background and the days are dark", async () => {
    const { page } = await show(await mailOf("1w"), 700, "dark");
    expect(await coloursAt(page, ["td.h5", ".card h1", ".page"])).toEqual(["#24573a", "#1e242b", "#14181d"]);
  });

  test("a client that drops the style sheet shows the same picture", async () => {
    const html = await mailOf("1w");
    const [whole, stripped] = [html, html.replace(/<style>.*?<\/style>/s, "").replace(/ class="[^"]*"/g, "")];
    const pictures = await Promise.all(
      [whole, stripped].map(async (one) => (await show(one, 700)).page.screenshot({ fullPage: true })),
    );
    expect(pictures[0]?.equals(pictures[1] ?? Buffer.of())).toBe(true);
  });
});
