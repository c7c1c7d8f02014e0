import { expect, it } from "vitest";
import { signedIn } from "../http/page/visitor.ts";
import { camerasOf, startWatch } from "../support/app.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

describeWithRedis("the status page of a running lenswatch", () => {
  it.concurrent("shows an offline recording, acknowledges and silences with its buttons, and has its incident afterwards", async () => {
    await using watch = await startWatch({ http: 'http: { listen: "127.0.0.1:0", admin_token: boss-token-of-dana }' });
    const { simulator, slack, app } = watch;
    const [camera] = camerasOf(watch);
    const read = async (path: string) => (await fetch(app.address + path)).text();
    const paths = ["/", `/?location=${camera.location.id}`, `/recordings/${camera.id}`];

    simulator.world.setStatus(camera.id, "offline");
    await slack.next();
    await until("the page shows it", async () =>
      (await read("/")).includes("<h1>1 needs attention: 1 recording offline"),
    );
    for (const path of paths) expect(await read(path), path).toContain(camera.name);
    await until("it says who was told", async () =>
      /Notified <bdi>Slack \(ops\)<\/bdi> at /.test(await read(`/recordings/${camera.id}`)),
    );
    expect(await read(`/recordings/${camera.id}`)).toContain("RecordingOffline · critical · firing");

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
    expect((await keeper.get(own)).html).not.toContain("Silenced by");

    simulator.world.setStatus(camera.id, "online");
    await until("the page shows the recovery", async () =>
      (await read("/")).includes("<h1>All 8 recordings are online, nothing needs attention."),
    );
    await until("its own page has the incident", async () =>
      /RecordingOffline<\/a><\/th>.*recovered<\/td>/s.test(await read(own)),
    );
  });
});
