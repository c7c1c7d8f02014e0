import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { fingerprint } from "../../src/alerting/fingerprint.ts";
import { createLogger } from "../../src/lib/log.ts";
import { lenswatch } from "../commands/run-command.ts";
import { formToken, signedIn } from "../http/page/visitor.ts";
import { startWatch } from "../support/app.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const admin = "admin-token-of-32-characters-long";
const read = "read-token-of-32-characters-long.";
const http = `http: { listen: "127.0.0.1:0", admin_token: ${admin}, read_token: ${read} }`;

describeWithRedis("the audit log of a running lenswatch", () => {
  it("has every change with its actor, whichever way it came, in Redis and in the log", async () => {
    const destination = new PassThrough();
    const written: string[] = [];
    destination.on("data", (chunk) => void written.push(String(chunk)));
    await using watch = await startWatch({ http, log: createLogger({ level: "warn", destination }) });
    const { app, simulator } = watch;
    const other = await watch.join();
    const headers = { authorization: `Bearer ${admin}`, "content-type": "application/json" };
    const silence = { isRegex: false, isEqual: true, name: "severity", value: "warning" };
    const posted = await fetch(`${app.address}/api/v2/silences`, {
      method: "POST",
      headers,
      body: JSON.stringify({
        matchers: [silence],
        endsAt: "2999-01-01T00:00:00Z",
        createdBy: "somebody",
        comment: "x",
      }),
    });
    const { silenceID } = (await posted.json()) as { silenceID: string };
    const dana = await signedIn(other.address, admin, "dana");
    const form = formToken((await dana.get("/?show=silences")).html);
    expect((await dana.post(`/silences/${silenceID}/end`, { form })).status).toBe(303);
    const [camera] = simulator.world.recordings;
    simulator.world.setStatus(camera?.id ?? "", "offline");
    let firing: { labels: Record<string, string> }[] = [];
    await until("the alert fires", async () => {
      firing = (await (await fetch(`${app.address}/api/v2/alerts`, { headers })).json()) as typeof firing;
      return firing.length > 0;
    });
    const print = fingerprint(firing[0]?.labels ?? {});
    const env = { LENSWATCH_ADMIN_TOKEN: admin, USER: "eli" };
    const run = (...argv: string[]) => lenswatch([...argv, "--url", app.address], env);
    expect((await run("ack", print)).exitCode).toBe(0);
    expect((await fetch(app.address, { headers: { authorization: "Bearer guess" } })).status).toBe(401);
    expect((await run("sessions", "revoke", "--name", "dana")).stdout).toBe("1 session revoked.\n");
    for (const { address } of [app, other])
      expect((await fetch(address, { headers: { cookie: dana.cookie } })).status).toBe(401);
    const token = { via: "token", name: "admin_token", person: null };
    const session = { via: "session", name: "admin_token", person: "dana" };
    const expected = [
      { action: "silence_set", actor: token, target: silenceID, before: null, after: { createdBy: "somebody" } },
      { action: "sign_in", actor: session },
      { action: "silence_expired", actor: session, target: silenceID, before: { comment: "x" } },
      { action: "acknowledged", actor: token, after: { recording: camera?.name, author: "eli" } },
      { action: "sessions_revoked", actor: token, before: { people: "dana" } },
    ];
    const isRefused = ({ outcome }: { outcome: string }) => outcome === "refused";
    let items: { outcome: string; reason: string }[] = [];
    // Each replica writes what it refused after its answer.
    await until("every refused attempt is written", async () => {
      items = JSON.parse((await run("audit", "--output", "json")).stdout);
      return items.filter(isRefused).length >= 3;
    });
    const done = items.filter(({ outcome }) => outcome === "done").reverse();
    expect(done).toMatchObject(expected.map((one) => ({ ...one, address: "127.0.0.1" })));
    const reasons = items.filter(isRefused).map(({ reason }) => reason);
    expect(reasons.toSorted()).toEqual(["session_ended", "session_ended", "wrong_token"]);
    const logged = written
      .join("")
      .split("\n")
      .filter((line) => line.includes('"stream":"audit"'));
    expect(
      logged
        .map((line) => JSON.parse(line).action)
        .filter((action) => action !== "refused")
        .toSorted(),
    ).toEqual(expected.map(({ action }) => action).toSorted());
    expect(logged.join()).not.toMatch(/guess|of-32/);
  });
});
