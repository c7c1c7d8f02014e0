import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { request } from "node:https";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import { expect, it } from "vitest";
import type { App } from "../../src/app/app.ts";
import { startWatch } from "../support/app.ts";
import { temporaryDirectory } from "../support/directory.ts";
import { lastingPort } from "../support/lasting-port.ts";
import { hasOpenssl, makePki } from "../support/pki.ts";
import { hasPrometheus, noPrometheus, startPrometheus } from "../support/prometheus.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const TOKEN = "s3cret-of-the-admin";
const http = `http: { listen: "127.0.0.1:0", admin_token: ${TOKEN} }`;

interface Sent {
  readonly labels: Record<string, string>;
  readonly annotations?: Record<string, string>;
  readonly startsAt?: string;
  readonly endsAt?: string;
  readonly generatorURL?: string;
}

function post({ address }: Pick<App, "address">, ...alerts: Sent[]): Promise<Response> {
  return fetch(`${address}/api/v2/alerts`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify(alerts),
  });
}

async function alertsAt({ address }: Pick<App, "address">) {
  return (await (await fetch(`${address}/api/v2/alerts`)).json()) as {
    labels: Record<string, string>;
    fingerprint: string;
    updatedAt: string;
    status: { state: string; inhibitedBy: string[] };
  }[];
}

async function episodesAt({ address }: Pick<App, "address">) {
  const { items } = (await (await fetch(`${address}/api/v1/incidents`)).json()) as {
    items: { episodes: { alertname: string; endReason: string; subject: { kind: string } }[] }[];
  };
  return items.flatMap(({ episodes }) => episodes);
}

/** A certificate in `dir`: the keys of `http` for it, what Prometheus asks with, and what a test reads. */
async function writeCertificate(dir: string) {
  const { ca, server } = makePki();
  const at = (name: string) => join(dir, name);
  const files = { "ca.pem": ca, "server.pem": server.cert, "server.key": server.key };
  for (const [name, text] of Object.entries(files)) await writeFile(at(name), text);
  const authorization = { credentials: TOKEN };
  return {
    tls: `tls: { cert_file: ${at("server.pem")}, key_file: ${at("server.key")} }`,
    client: { scheme: "https", tls_config: { ca_file: at("ca.pem") }, authorization },
    async get(url: string) {
      const headers = { authorization: `Bearer ${TOKEN}` };
      const [answer] = await once(request(url, { ca, headers, agent: false }).end(), "response");
      return readText(answer);
    },
  };
}

const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
const disk: Sent = {
  labels: { alertname: "DiskFull", instance: "nas-1", severity: "critical" },
  annotations: { summary: "2 % left" },
  generatorURL: "https://prometheus.example.com/graph?g0.expr=disk&g0.tab=1",
};

describeWithRedis("external alerts", () => {
  it.concurrent("are notified once however often they are posted to either replica, and their end by its reason", async () => {
    await using watch = await startWatch({ http });
    const { slack, mail, app } = watch;
    const other = await watch.join();
    for (const one of [app, other, app, other])
      expect((await post(one, { ...disk, endsAt: inMs(600_000) })).status).toBe(200);
    const first = await slack.next();
    expect(first.text).toContain("DiskFull: nas-1");
    expect(first.shown).toContain("2 % left");
    expect(first.shown).toContain("<https://prometheus.example.com/graph?g0.expr=disk&amp;g0.tab=1|Source>");
    await until("it is shown", async () => (await alertsAt(other))[0]?.status.state === "active");
    await post(app, { ...disk, endsAt: inMs(-1_000) });
    expect((await slack.next()).text).toContain("DiskFull: nas-1 recovered");
    await post(other, { ...disk, endsAt: inMs(-500) });
    expect(await alertsAt(app)).toEqual([]);
    await until("the mails of both are there", () => mail.messages.length === 2);
    expect(mail.messages.map(({ subject }) => subject)).toEqual([
      expect.stringContaining("DiskFull: nas-1"),
      expect.stringContaining("✅"),
    ]);
    expect(slack.messages).toHaveLength(2);

    // An end within 10 s counts as reached; later it expires where it is not posted again.
    await post(app, { ...disk, endsAt: inMs(11_000) });
    await slack.next();
    expect((await slack.next()).text).toContain("DiskFull: nas-1: expired");
    const episodes = await episodesAt(app);
    expect(episodes.map(({ alertname, endReason }) => [alertname, endReason])).toContainEqual(["DiskFull", "expired"]);

    await Promise.all([app.stop(), other.stop()]);
    const web = await watch.join("web");
    await post(web, { ...disk, endsAt: inMs(600_000) });
    expect(await alertsAt(web)).toMatchObject([{ status: { state: "unprocessed" } }]);
    await web.stop();
    await watch.redis.kill();
    await watch.redis.restart();
    await watch.join("all");
    expect((await slack.next()).text).toContain("DiskFull");
    expect(slack.messages).toHaveLength(5);
  });

  it.skipIf(!hasPrometheus || !hasOpenssl)(
    `come from a real Prometheus, over TLS: one telling, and one end${hasPrometheus ? "" : ` (${noPrometheus})`}`,
    async () => {
      const port = await lastingPort();
      const dir = await temporaryDirectory();
      const { tls, client, get } = await writeCertificate(dir);
      const tokens = `tokens: [{ name: prometheus, token: ${TOKEN}, scopes: [alerts, read] }]`;
      const http = `http: { listen: "127.0.0.1:${port}", ${tokens}, ${tls} }`;
      await using watch = await startWatch({ http });
      const ruleFile = join(dir, "rules.yml");
      const writeRule = (expression: string) =>
        writeFile(
          ruleFile,
          `groups: [ { name: a, rules: [ { alert: TargetDown, expr: "${expression}", labels: { severity: page }, annotations: { summary: "{{ $value }} <!channel>" } } ] } ]`,
        );
      await writeRule("vector(1)");
      await using prometheus = await startPrometheus({
        targets: [`https://127.0.0.1:${port}`],
        job: "lenswatch",
        ruleFiles: [ruleFile],
        alertsTo: { hosts: [`127.0.0.1:${port}`], token: "" },
        http: { scrapes: client, alerts: client },
      });
      const notified = await watch.slack.next();
      expect(notified.text).toContain("🔴 page: TargetDown");
      expect(notified.shown).toContain("1 &lt;!channel&gt;");
      expect(notified.shown).toMatch(/<http[^|]+\/graph\?[^|]+\|Source>/);
      const posted = async () => {
        const [alert] = JSON.parse(await get(`https://127.0.0.1:${port}/api/v2/alerts`)) as { updatedAt: string }[];
        return Date.parse(alert?.updatedAt ?? "");
      };
      const first = await posted();
      await until("Prometheus has sent it again", async () => (await posted()) > first);
      await until("it has scraped with its token", async () => {
        const [up] = await prometheus.instant('up{job="lenswatch"}');
        return up?.values[0] === 1;
      });
      await writeRule("vector(1) > 2");
      await prometheus.reload();
      expect((await watch.slack.next()).text).toContain("✅ TargetDown");
      expect(watch.slack.messages).toHaveLength(2);
    },
  );
});
