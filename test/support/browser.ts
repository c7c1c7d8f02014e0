/** A real browser; absent on many machines. */
import { existsSync } from "node:fs";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { onTestFinished } from "vitest";

const PLACES = [
  process.env.LENSWATCH_CHROMIUM ?? "",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

/** Where a Chromium is installed; undefined where there is none. */
export const chromiumPath = PLACES.find((place) => place !== "" && existsSync(place));

/** Why a test that needs it is skipped. */
export const noChromium = "no Chromium here: install it, or set LENSWATCH_CHROMIUM to its path";

export async function startBrowser(): Promise<Browser> {
  return chromium.launch({
    ...(chromiumPath === undefined ? {} : { executablePath: chromiumPath }),
    args: ["--no-sandbox", "--disable-gpu"],
  });
}

/** A new page in the browser, closed after the test; `complaints` are the messages of its console. */
export async function openPage(
  browser: Browser,
  options: BrowserContextOptions,
): Promise<{ page: Page; complaints: string[] }> {
  const context = await browser.newContext({ timezoneId: "Europe/London", ...options });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  return { page, complaints };
}
