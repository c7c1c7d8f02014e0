import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { fingerprint } from "../../../src/alerting/fingerprint.ts";
import type { FleetSnapshot } from "../../../src/health/shard-state.ts";
import type { ActiveAlert } from "../../../src/http/deps.ts";
import { createHttpServer } from "../../../src/http/server.ts";
import { fleetOf, NOW, recordingState } from "../../metrics/fleets.ts";
import { chromiumPath, noChromium, openPage, startBrowser } from "../../support/browser.ts";
import { type Differing, serve, usualDeps } from "../serve.ts";
import { active, dark as darkAlert, smallFleet, unreachable } from "./fleet.ts";

const title = chromiumPath === undefined ? `a page that follows (skipped: ${noChromium})` : "a page that follows";

/** What the daemon would remember, to be changed while a page is open. */
function world() {
  const now = { fleet: smallFleet as FleetSnapshot, alerts: [] as ActiveAlert[] };
  const deps: Differing = { fleet: async () => now.fleet, alerts: async () => now.alerts };
  return { now, deps };
}

const dark: ActiveAlert = { alert: darkAlert, receivers: ["ops"] };
const allWell = fleetOf({
  recordings: ["entrance", "till-3", "shoes"].map((id) => recordingState(id, { locationId: "leeds" })),
});

describe.skipIf(chromiumPath === undefined)(title, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());

  /** Marks the document: a page that is loaded anew has lost it. */
  const mark = (page: Page) => page.evaluate("void (globalThis.mark = 1)");
  const isMarked = (page: Page) => page.evaluate("globalThis.mark === 1");

  test("shows and says what changed without being loaded anew", async () => {
    const { now, deps } = world();
    now.fleet = allWell;
    const { address } = await serve(deps);
    const { page, complaints } = await openPage(browser, {});
    await page.goto(address);
    await page.getByText("Live.").waitFor();
    await mark(page);
    expect(await page.locator("#news").textContent()).toBe("");
    now.fleet = smallFleet;
    now.alerts = [dark];
    await page.getByRole("heading", { name: "1 needs attention: 1 recording offline" }).waitFor();
    expect(await page.title()).toBe("✕ 1 needs attention: 1 recording offline since 11:48 GMT · lenswatch");
    expect(await page.getByRole("status").first().textContent()).toBe(await page.title());
    expect(await page.locator("#news").evaluate((element) => element.role ?? element.getAttribute("role"))).toBe(
      "status",
    );
    await page.getByRole("link", { name: "Till 3" }).waitFor();
    now.fleet = allWell;
    now.alerts = [];
    await page.getByRole("heading", { name: "All 3 recordings are online, nothing needs attention." }).waitFor();
    expect(await page.getByRole("link", { name: "Till 3" }).count()).toBe(0);
    expect(await isMarked(page)).toBe(true);
    expect(complaints).toEqual([]);
  });

  test("keeps the focus, what is open and where it was scrolled to", async () => {
    const { now, deps } = world();
    now.alerts = [dark];
    const { address } = await serve(deps);
    const { page, complaints } = await openPage(browser, { viewport: { width: 320, height: 300 } });
    await page.goto(`${address}/alerts/${fingerprint(dark.alert.labels)}`);
    await page.getByText("Live.").waitFor();
    const summary = page.locator("#labels summary");
    await summary.focus();
    await page.keyboard.press("Enter");
    await page.locator("#labels dl").scrollIntoViewIfNeeded();
    expect(await page.evaluate("scrollY")).toBeGreaterThan(0);
    const before = await page.locator("#labels dl").boundingBox();
    now.alerts = [{ ...dark, acknowledgement: { author: "sam", comment: "", at: NOW } }];
    await page.getByText("Acknowledged by sam").waitFor();
    expect(await summary.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
    expect(await page.locator("#labels dl").isVisible()).toBe(true);
    expect(await page.locator("#labels dl").boundingBox()).toEqual(before);
    expect(complaints).toEqual([]);
  });

  test("never turns one row into another under somebody's finger", async () => {
    const { now, deps } = world();
    now.alerts = [dark];
    const { address } = await serve(deps);
    const { page } = await openPage(browser, {});
    await page.goto(address);
    await page.getByText("Live.").waitFor();
    const link = await page.getByRole("link", { name: "Till 3" }).elementHandle();
    await link?.focus();
    now.alerts = [...(await active(unreachable)()), dark];
    await page.getByRole("link", { name: "Service unreachable" }).waitFor();
    expect(await page.locator(".board li").first().textContent()).toContain("Service unreachable");
    expect(await link?.textContent()).toBe("Till 3");
    expect(
      await link?.evaluate((element) => element.isConnected && element === element.ownerDocument.activeElement),
    ).toBe(true);
  });

  test("says plainly that it is not live, and of when it is, until it is again", async () => {
    const { now, deps } = world();
    const port = await freePortOf(deps);
    const { page } = await openPage(browser, {});
    const server = await restart(deps, port);
    await page.goto(server.address);
    await page.getByText("Live.").waitFor();
    await mark(page);
    await server.close();
    const lost = page.getByRole("alert");
    await lost.waitFor();
    expect(await lost.textContent()).toBe("Not live: state of 12:00:00 GMT. The current state is not known.");
    expect(await page.getByText("Live.", { exact: true }).count()).toBe(0);
    now.fleet = allWell;
    await restart(deps, port);
    await page.getByRole("heading", { name: "All 3 recordings are online, nothing needs attention." }).waitFor();
    await lost.waitFor({ state: "hidden" });
    await page.getByText("Live.").waitFor();
    expect(await isMarked(page)).toBe(true);
  });

  test("says so in the tab, the banner and the footer once it hears nothing, and takes it back", async () => {
    const { now, deps } = world();
    let isAway = false;
    const fleet = async () => (isAway ? Promise.reject(new Error("away")) : now.fleet);
    const { address } = await serve({ ...deps, fleet });
    const { page } = await openPage(browser, {});
    // A connection that is dead and not known to be.
    await page.addInitScript(`globalThis.EventSource = class extends EventTarget {
      constructor() { super(); setTimeout(() => this.dispatchEvent(new Event("open"))); }
      close() {}
    }`);
    await page.clock.install();
    await page.goto(address);
    await page.getByText("Live.").waitFor();
    const title = await page.title();
    isAway = true;
    await page.clock.runFor(6_500);
    // Well before it would ask by itself.
    await page.getByRole("alert").waitFor({ timeout: 8_000 });
    expect(await page.title()).toBe(`! Not live · ${title}`);
    expect(await page.locator("#link").textContent()).toBe("Not live.");
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toContain("1 of 6 recordings is offline");
    isAway = false;
    await page.clock.runFor(6_000);
    await page.getByRole("alert").waitFor({ state: "hidden" });
    expect(await page.title()).toBe(title);
  });

  test("asks to sign in once the session is over", async () => {
    const { deps } = world();
    const tokens = { readToken: "read-me" };
    const { address } = await serve({
      ...deps,
      get readToken() {
        return tokens.readToken;
      },
    });
    const { page } = await openPage(browser, {});
    await page.goto(address);
    await page.fill("[name=name]", "rita");
    await page.fill("[name=token]", "read-me");
    await page.keyboard.press("Enter");
    await page.getByText("Live.").waitFor();
    tokens.readToken = "another";
    await page.evaluate("dispatchEvent(new Event('online'))");
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
  });

  /** A port that a server had and another one may have after it. */
  async function freePortOf(deps: Differing): Promise<number> {
    const server = await restart(deps, 0);
    await server.close();
    return Number(new URL(server.address).port);
  }

  async function restart(deps: Differing, port: number) {
    const server = createHttpServer({ ...usualDeps(deps), ...deps, listen: { host: "127.0.0.1", port } });
    onTestFinished(() => server.close());
    return { ...(await server.start()), close: () => server.close() };
  }
});
