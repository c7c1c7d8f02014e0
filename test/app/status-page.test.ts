import { expect, it, onTestFinished } from "vitest";
import { signedIn } from "../http/page/visitor.ts";
import { startWatch } from "../support/app.ts";
import { chromiumPath, noChromium, openPage, startBrowser } from "../support/browser.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

describeWithRedis("the status page of a running lenswatch", () => {
  it.concurrent("shows an offline recording, and its incident once it has recovered", async () => {
    await using watch = await startWatch();
    const { simulator, slack, app } = watch;
    const [camera] = simulator.world.recordings;
    if (!camera) throw new Error("no camera");
    const read = async (path: string) => (await fetch(app.address + path)).text();
    const paths = ["/", `/?location=${camera.location.id}`, `/recordings/${camera.id}`];

    simulator.world.setStatus(camera.id, "offline");
    await slack.next();
    await until("the page shows it", async () =>
      (await read("/")).includes("<h1>1 needs attention: 1 recording offline"),
    );
    for (const path of paths) expect(await read(path), path).toContain(camera.name);
    await until("it says who was told", async () =>
      /Notified <bdi>ops\/slack\/0<\/bdi> at /.test(await read(`/recordings/${camera.id}`)),
    );
    expect(await read(`/recordings/${camera.id}`)).toContain("RecordingOffline · critical · firing");

    simulator.world.setStatus(camera.id, "online");
    await slack.next();
    await until("the page shows the recovery", async () =>
      (await read("/")).includes("<h1>All 8 recordings are online, nothing needs attention."),
    );
    expect(await read(`/recordings/${camera.id}`)).toMatch(/RecordingOffline<\/a><\/th>.*recovered<\/td>/s);
  });

  it.concurrent("shows a month of uptime hour by hour, also of a new recording", async () => {
    await using watch = await startWatch();
    const { simulator, app } = watch;
    const [camera] = simulator.world.recordings;
    const own = `${app.address}/recordings/${camera?.id}`;
    await until("all of the month is there", async () => /% over (?:29|30) days/.test(await (await fetch(own)).text()));
    const html = await (await fetch(own)).text();
    expect(html).toMatch(/<h2 id="quality">.*About \d+ % all the time; known since \w+ \d+ \w+ \d\d:00\./s);
    expect(html.match(/<details id="day-/g)?.length).toBeGreaterThanOrEqual(29);
    expect(html.match(/<ol class="hours"/g)?.length).toBeGreaterThanOrEqual(29);
  });

  const browsed = it.skipIf(chromiumPath === undefined);
  browsed(
    `follows a camera that goes dark in an open browser${chromiumPath ? "" : ` (skipped: ${noChromium})`}`,
    async () => {
      await using watch = await startWatch();
      const { simulator, app } = watch;
      const [camera] = simulator.world.recordings;
      if (!camera) throw new Error("no camera");
      const browser = await startBrowser();
      onTestFinished(() => browser.close());
      const { page, complaints } = await openPage(browser, { viewport: { width: 390, height: 844 } });
      await until("all are seen", async () => (await (await fetch(app.address)).text()).includes("All 8 recordings"));
      await page.goto(app.address);
      await page.getByText("Live.").waitFor();
      await page.evaluate("void (globalThis.mark = 1)");
      simulator.world.setStatus(camera.id, "offline");
      await page.getByRole("heading", { name: "1 needs attention: 1 recording offline" }).waitFor();
      await page.getByRole("link", { name: camera.name }).waitFor();
      simulator.world.setStatus(camera.id, "online");
      await page.getByRole("heading", { name: "All 8 recordings are online, nothing needs attention." }).waitFor();
      expect(await page.evaluate("globalThis.mark")).toBe(1);
      expect(complaints).toEqual([]);
    },
  );

  it.concurrent("shows an unreachable service instead of a healthy fleet", async () => {
    await using watch = await startWatch();
    const { simulator, app } = watch;
    const read = async (path: string) => (await fetch(app.address + path)).text();
    await until("all are online", async () => (await read("/")).includes("All 8 recordings are online"));
    simulator.faults.set("half_open");
    await until("it says so", async () => (await read("/")).includes("The status of all 8"));
    expect(await read(`/recordings/${simulator.world.recordings[0]?.id}`)).toContain("was online at");
  });

  it.concurrent("acknowledges and silences with its buttons, as the API does", async () => {
    const http = 'http: { listen: "127.0.0.1:0", admin_token: boss-token-of-dana }';
    await using watch = await startWatch({ http });
    const { simulator, slack, app } = watch;
    const [camera] = simulator.world.recordings;
    if (!camera) throw new Error("no camera");
    simulator.world.setStatus(camera.id, "offline");
    await slack.next();
    const keeper = await signedIn(app.address, "boss-token-of-dana", "dana");
    const own = `/recordings/${camera.id}`;
    await until("its page has the button", async () => (await keeper.get(own)).html.includes(">Acknowledge<"));

    const { html } = await keeper.get(own);
    const action = /action="\.\.(\/alerts\/\w+\/ack)"/.exec(html)?.[1] ?? "";
    const back = `recordings/${camera.id}`;
    const acknowledged = await keeper.post(action, { back }, { from: own });
    expect(acknowledged.headers.get("location")).toBe(`../../${back}`);
    expect((await keeper.get(own)).html).toContain("Acknowledged by <bdi>dana</bdi>");

    const silence = { matchers: `recording_id="${camera.id}"`, lasting: "4h", comment: "rewiring" };
    const set = await keeper.post("/silences/new", silence, { from: `/silences/new?matchers=${silence.matchers}` });
    expect(set.status).toBe(303);
    const listed = await (await fetch(`${app.address}/api/v2/silences`)).json();
    expect(listed).toMatchObject([{ createdBy: "dana", comment: "rewiring", status: { state: "active" } }]);
    const list = await keeper.get("/?show=silences");
    expect(list.html).toContain("suppresses 1 alert");

    const end = /action="\.(\/silences\/[\w-]+\/end)"/.exec(list.html)?.[1] ?? "";
    expect((await keeper.post(end, {}, { from: "/?show=silences" })).status).toBe(303);
    expect((await keeper.get("/?show=silences")).html).toContain("<h1>No active silences</h1>");
    expect((await keeper.get(own)).html).not.toContain("Silenced until");
  });

  it.concurrent("shows that the state is unknown while Redis is down", async () => {
    await using watch = await startWatch();
    await watch.redis.stop();
    const response = await fetch(`${watch.app.address}/`);
    expect(response.status).toBe(503);
    expect(await response.text()).toContain("The state cannot be read now");
  });
});
