/** Whatever the borders let through is shown as text, and as nothing else, wherever anything is shown. */
import { spawnSync } from "node:child_process";
import { Registry } from "prom-client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fingerprint } from "../../src/alerting/fingerprint.ts";
import { createMatcher } from "../../src/alerting/matcher.ts";
import type { Notification, NotifyReason } from "../../src/alerting/notification.ts";
import { sentenceOf } from "../../src/alerting/timeline.ts";
import { computeDigest } from "../../src/digest/compute.ts";
import { incidentOf } from "../../src/digest/incident.ts";
import { digestPeriod } from "../../src/digest/period.ts";
import { forReader, renderDigest } from "../../src/digest/render.ts";
import { currentStatus } from "../../src/health/fleet.ts";
import { attachmentsOf } from "../../src/jobs/digest-attachments.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { createExposition } from "../../src/metrics/exposition.ts";
import { createMetrics } from "../../src/metrics/metrics.ts";
import { renderEmail } from "../../src/notify/email/render.ts";
import { createMailTransport, type MailTransport } from "../../src/notify/email/transport.ts";
import { renderSlack } from "../../src/notify/slack/render.ts";
import { renderWebhook } from "../../src/notify/webhook/render.ts";
import { lenswatch } from "../commands/asking.ts";
import { signedIn, visit } from "../http/page/visit.ts";
import { serve } from "../http/serve.ts";
import { NOW } from "../metrics/fleets.ts";
import {
  csvProblems,
  htmlProblems,
  slackProblems,
  terminalProblems,
  textProblems,
} from "../support/harmless.ts";
import { type HostileFleet, hostileFleet, hostileRules } from "../support/hostile-fleet.ts";
import { POISONS } from "../support/poison.ts";
import type { SlackBody } from "../support/slack-sink.ts";
import { type SmtpSink, startSmtpSink } from "../support/smtp-sink.ts";

const SEED = Number(process.env.LENSWATCH_SEED ?? 20_261_122);
const fleets = Array.from({ length: 3 }, (_, i) => hostileFleet(SEED + i));

const REASONS: readonly NotifyReason[] = ["first", "more", "resolved", "reminder", "test"];

/** Every size and kind of message there is, of everything the fleet has to tell. */
function* notificationsOf({ firing, ended }: HostileFleet): Generator<Notification> {
  const shared = {
    receiver: POISONS[0] ?? "",
    integrationId: "ops/slack/0",
    group: { id: POISONS[7] ?? "", labels: {} },
    now: NOW,
    externalUrl: "https://lenswatch.example.com",
    messageId: POISONS[9] ?? "",
  };
  for (let from = 0, nth = 0; from < Math.max(firing.length, ended.length); nth++) {
    const size = [1, 1, 2, 5, 30][nth % 5] ?? 1;
    const reason = REASONS[nth % REASONS.length] ?? "first";
    const over = ended.slice(from, from + size);
    const now = reason === "resolved" ? [] : firing.slice(from, from + size);
    yield { ...shared, reason, firing: now, resolved: nth % 2 === 0 || now.length === 0 ? over : [] };
    from += size;
  }
  yield { ...shared, reason: "first", groups: 45, firing, resolved: [] };
  yield { ...shared, reason: "more", groups: 45, firing, resolved: ended };
  yield { ...shared, reason: "resolved", groups: 45, firing: [], resolved: ended };
}

const addresses = {
  from: "lenswatch@example.com",
  sender: "lenswatch@example.com",
  to: ["ops@example.com"],
  recipient: "ops@example.com",
};

async function digestOf({ snapshot, uptimes, firing, ended, locations }: HostileFleet) {
  const names = new Map(locations.map(({ id, name }) => [id, name ?? id]));
  const states = snapshot.shards[0]?.recordings;
  const digest = computeDigest({
    now: NOW,
    timezone: "Europe/London",
    period: digestPeriod("1d", NOW + 86_400_000, "Europe/London"),
    recordings: uptimes.map(({ recording }) => {
      const state = states?.get(recording.id);
      return {
        recording,
        locationName: names.get(recording.locationId) ?? recording.locationId,
        status: state && currentStatus(state, NOW, snapshot.statusIntervalMs),
        since: state?.since ?? 0,
      };
    }),
    uptime: new Map(uptimes.map(({ recording, buckets }) => [recording.id, buckets])),
    incidents: [...firing, ...ended].map((alert) => incidentOf(alert, hostileRules)),
    matchers: [],
    blind: [],
  });
  const frame = { name: POISONS[0] ?? "", externalUrl: "https://lenswatch.example.com" };
  const mail = forReader(await renderDigest(digest, frame), "https://lenswatch.example.com/unsubscribe/x");
  return { ...mail, attachments: await attachmentsOf("daily", digest) };
}

const served = (fleet: HostileFleet) =>
  serve({
    adminToken: "boss",
    silences: async () =>
      POISONS.map((text, i) => ({
        id: `00000000-0000-4000-8000-${String(i).padStart(12, "0")}`,
        matchers: [createMatcher("location", i % 2 === 0 ? "=" : "!=", text)],
        startsAt: NOW - 3_600_000,
        endsAt: NOW + 3_600_000,
        updatedAt: NOW,
        createdBy: text,
        comment: text,
        annotations: {},
      })),
    fleet: async () => fleet.snapshot,
    alerts: async () =>
      fleet.firing.map((alert, i) => ({
        alert,
        receivers: ["ops", POISONS[i % POISONS.length] ?? ""],
        ...(i % 3 === 0 ? { mutedBy: [POISONS[i % POISONS.length] ?? ""] } : {}),
        ...(i % 4 === 0
          ? {
              acknowledgement: {
                author: POISONS[i % POISONS.length] ?? "",
                comment: POISONS[(i + 1) % POISONS.length] ?? "",
                at: NOW,
              },
            }
          : {}),
      })),
    incidents: async () =>
      [...fleet.firing, ...fleet.ended].map((alert) => ({
        id: alert.id,
        alertname: alert.labels.alertname ?? "",
        subject: alert.subject,
        locationId: alert.labels.location_id,
        startsAt: alert.startsAt,
        endsAt: alert.endsAt,
        endReason: alert.endReason,
      })),
    timeline: async () => fleet.lines.slice(0, 300),
  });

const idsOf = ({ snapshot }: HostileFleet) => [...(snapshot.shards[0]?.recordings.keys() ?? [])];

describe.each(fleets.map((fleet, i) => [SEED + i, fleet] as const))(
  "the fleet of a hostile service (seed %i)",
  (seed, fleet) => {
    const nth = seed - SEED;

    it("has every kind of alert, and names that mean harm", () => {
      const kinds = new Set(
        [...fleet.firing, ...fleet.ended].map(({ ruleId, subject }) =>
          subject.kind === "outside" ? "from outside" : ruleId,
        ),
      );
      expect([...kinds].sort()).toEqual(
        [...hostileRules.map(({ id }) => id), "ServiceUnreachable", "from outside"].sort(),
      );
      const names = JSON.stringify(fleet.firing.map(({ labels }) => labels));
      for (const text of ["<!channel>", "<script>", "Bcc:", "\\u001b[31m", "=HYPERLINK", "\\ud800"])
        expect(names, text).toContain(text);
    });

    it("is text on Slack, within its limits", () => {
      for (const notification of notificationsOf(fleet))
        for (const plain of [false, true])
          expect(slackProblems(renderSlack(notification, { plain }) as SlackBody)).toEqual([]);
    });

    it("is text in a mail", () => {
      for (const notification of notificationsOf(fleet)) {
        const { subject, text, html = "" } = renderEmail(notification, addresses);
        expect([...textProblems(subject), ...textProblems(text), ...htmlProblems(html)]).toEqual([]);
        expect(subject).not.toContain("\n");
      }
    });

    it("is text in a digest and in the files with it", async () => {
      const { subject, text, html, attachments } = await digestOf(fleet);
      expect([...textProblems(subject), ...textProblems(text), ...htmlProblems(html)]).toEqual([]);
      expect(subject).not.toContain("\n");
      expect(attachments.flatMap(({ content }) => csvProblems(String(content)))).toEqual([]);
    });

    it("is text on every page, to who only looks and to who has signed in", async () => {
      const { address } = await served(fleet);
      const everyNinth = (_one: unknown, i: number) => i % 9 === 0;
      const ids = idsOf(fleet).filter(everyNinth);
      const prints = fleet.firing.filter(everyNinth).map(({ labels }) => fingerprint(labels));
      const paths = [
        ...["/", "/?show=locations", "/?show=alerts", "/?show=silences", "/?q=e"],
        ...ids.map((id) => `/recordings/${encodeURIComponent(id.toWellFormed())}`),
        ...prints.map((print) => `/alerts/${print}`),
        ...POISONS.filter((_text, i) => i % 4 === nth).flatMap((text) => {
          const query = encodeURIComponent(text.slice(0, 250).toWellFormed());
          const matchers = encodeURIComponent(
            `location=${JSON.stringify(text.slice(0, 100).toWellFormed())}`,
          );
          return [
            `/?q=${query}`,
            `/?location=${query}`,
            `/silences/new?matchers=${matchers}`,
            `/session?to=${query}`,
          ];
        }),
      ];
      for (const visitor of [visit(address), await signedIn(address, "boss", POISONS[3])]) {
        for (const path of paths) {
          const { html } = await visitor.get(path);
          expect({ path, problems: htmlProblems(html) }).toEqual({ path, problems: [] });
        }
      }
    });

    it("is JSON in the API, its names as they are, and nothing a browser would show", async () => {
      const { get } = await served(fleet);
      const paths = [
        "/api/v1/recordings",
        "/api/v1/locations",
        "/api/v1/incidents",
        "/api/v2/alerts",
        "/api/v2/alerts/groups",
      ];
      for (const path of paths) {
        const response = await get(path);
        expect(response.headers.get("content-type")).toMatch(/^application\/json/);
        expect(response.headers.get("x-content-type-options")).toBe("nosniff");
        expect(Object.values((await response.json()) as object).length).toBeGreaterThan(0);
      }
      const alerts = (await (await get("/api/v2/alerts")).json()) as { labels: object }[];
      const sent = fleet.firing.map(({ labels }) => JSON.stringify(labels)).sort();
      expect(alerts.map(({ labels }) => JSON.stringify(labels)).sort()).toEqual(sent);
    });

    it("reaches no terminal but as text", async () => {
      const { address } = await served(fleet);
      const [id = ""] = idsOf(fleet).filter((one) => one.length > 24);
      const lines = [
        ["status"],
        ["status", "--output", "json"],
        ["alerts"],
        ["alerts", "--output", "json"],
        ["why", id, "--since", "10d"],
        ["why", id, "--since", "10d", "--output", "json"],
        ...POISONS.filter((text) => text !== "")
          .slice(0, 14)
          .map((text) => ["why", "--", text]),
        ...["\u001b[31m", "\u009b2J"].map((text) => ["status", "--only", text]),
      ];
      for (const line of lines) {
        const { stdout, stderr } = await lenswatch([...line.slice(0, 1), "--url", address, ...line.slice(1)]);
        expect({ line, problems: terminalProblems(stdout + stderr) }).toEqual({ line, problems: [] });
        if (line.includes("json")) JSON.parse(stdout);
      }
      const { stdout } = await lenswatch(["status", "--url", address, "--output", "csv"]);
      expect(csvProblems(stdout)).toEqual([]);
    });

    it("is JSON to programs, in well-formed text", () => {
      for (const notification of notificationsOf(fleet)) {
        for (const plain of [false, true]) {
          const payload = renderWebhook(notification, { maxAlerts: 0, plain });
          expect(JSON.stringify(payload)).not.toMatch(/\\ud[89a-f]/i);
          expect(payload.alerts).toHaveLength(notification.firing.length + notification.resolved.length);
        }
      }
    });

    it("is told in sentences of one line", () => {
      for (const line of fleet.lines) expect(sentenceOf(line).length).toBeLessThan(20_000);
    });

    const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;
    it.skipIf(!hasPromtool)(
      `is read by Prometheus${hasPromtool ? "" : " (skipped: promtool is not installed)"}`,
      async () => {
        const registry = new Registry();
        createMetrics(registry, {
          version: "1.2.3",
          known: {
            endpoints: ["uptimes"],
            outcomes: ["ok"],
            protocolErrors: ["bad_row"],
            suppressReasons: ["nothing_new"],
            queues: ["sweep"],
            heartbeats: [],
            integrations: [{ receiver: "ops", type: "slack" }],
          },
        });
        const view = { snapshot: fleet.snapshot, rules: hostileRules, otherAlerts: [] };
        const exposition = createExposition({ registry, log: silentLogger, fleet: async () => view });
        let text = "";
        for await (const chunk of exposition.expose(undefined).body) text += chunk;
        const { status, stdout, stderr } = spawnSync("promtool", ["check", "metrics"], {
          input: text,
          encoding: "utf8",
        });
        expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: "", stderr: "" });
        expect(text.match(/^lenswatch_recording_online\{/gm)?.length).toBeGreaterThan(20);
        expect(textProblems(text)).toEqual([]);
      },
    );
  },
);

describe("a mail to a hostile fleet's people, on the wire", () => {
  let sink: SmtpSink;
  let transport: MailTransport;
  beforeAll(async () => {
    sink = await startSmtpSink();
    const { host, port } = sink;
    const smtp = { host, port, username: undefined, password: undefined, requireTls: false };
    transport = createMailTransport(smtp, { log: silentLogger, closeTimeoutMs: 100 });
  });
  afterAll(async () => {
    await transport.close();
    await sink.close();
  });

  it("has our headers and no other, and one recipient", async () => {
    for (const fleet of fleets) {
      const all = [...notificationsOf(fleet)];
      for (const notification of [...all.slice(0, 6), ...all.slice(-3)]) {
        await transport.sendMail(renderEmail(notification, addresses), new AbortController().signal);
        const mail = await sink.next();
        expect([...mail.headerNames].sort()).toEqual(ALERT_HEADERS);
        expect([mail.from, ...mail.rcpts]).toEqual(["lenswatch@example.com", "ops@example.com"]);
        expect(textProblems(mail.text.replaceAll("\r\n", "\n"))).toEqual([]);
        expect(mail.attachments).toEqual([]);
      }
    }
  });
});

const ALERT_HEADERS = [
  "Auto-Submitted",
  "Content-Type",
  "Date",
  "From",
  "In-Reply-To",
  "MIME-Version",
  "Message-ID",
  "References",
  "Subject",
  "To",
  "X-Auto-Response-Suppress",
].sort();
