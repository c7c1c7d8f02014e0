/** Text accepted from external sources is shown only as text, in every output. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sentenceOf } from "../../src/alerting/decision-log.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { renderEmail } from "../../src/notify/email/render.ts";
import { createMailTransport, type MailTransport } from "../../src/notify/email/transport.ts";
import { renderSlack } from "../../src/notify/slack/render.ts";
import { renderWebhook } from "../../src/notify/webhook.ts";
import { lenswatch } from "../commands/run-command.ts";
import {
  csvProblems,
  htmlProblems,
  htmlVocabulary,
  slackProblems,
  terminalProblems,
  textProblems,
} from "../support/harmless.ts";
import { hostileFleet, hostileRules } from "../support/hostile-fleet.ts";
import { POISONS } from "../support/hostile-names.ts";
import type { SlackBody } from "../support/slack-sink.ts";
import { type SmtpSink, startSmtpSink } from "../support/smtp-sink.ts";
import { addresses, digestOf, documentsOf, idsOf, notificationsOf, served } from "./hostile-documents.ts";

const SEED = Number(process.env.LENSWATCH_SEED ?? 20_261_122);
const fleets = [hostileFleet(SEED)];

/** The same fleets with harmless text: everything else in their documents is ours. */
const tame = fleets.map((_, nth) =>
  hostileFleet(
    SEED + nth,
    POISONS.map((_text, i) => `Till ${i}`),
  ),
);
let learned: Promise<ReadonlySet<string>> | undefined;

function ours(): Promise<ReadonlySet<string>> {
  learned ??= Promise.all(tame.map(documentsOf)).then(
    (documents) => new Set(documents.flat().flatMap(({ html }) => [...htmlVocabulary(html)])),
  );
  return learned;
}

describe.each(fleets.map((fleet, i) => [SEED + i, fleet] as const))(
  "the fleet of a hostile service (seed %i)",
  (_seed, fleet) => {
    it("has every kind of alert, and hostile names", () => {
      const kinds = new Set(
        [...fleet.firing, ...fleet.ended].map(({ ruleId, subject }) =>
          subject.kind === "external" ? "from outside" : ruleId,
        ),
      );
      expect([...kinds].sort()).toEqual(
        [...hostileRules.map(({ id }) => id), "ServiceUnreachable", "from outside"].sort(),
      );
      const names = JSON.stringify(fleet.firing.map(({ labels }) => labels));
      for (const text of ["<!channel>", "<script>", "Bcc:", "\\u001b[31m", "=HYPERLINK", "\ufffd lone"])
        expect(names, text).toContain(text);
    });

    it("is text on Slack, within its limits", () => {
      for (const notification of notificationsOf(fleet))
        for (const plain of [false, true])
          expect(slackProblems(renderSlack(notification, { plain }) as SlackBody)).toEqual([]);
    });

    it("is text in a mail", () => {
      for (const notification of notificationsOf(fleet)) {
        const { subject, text } = renderEmail(notification, addresses);
        expect([...textProblems(subject), ...textProblems(text)]).toEqual([]);
        expect(subject).not.toContain("\n");
      }
    });

    it("is text in a digest", async () => {
      const { subject, text } = await digestOf(fleet);
      expect([...textProblems(subject), ...textProblems(text)]).toEqual([]);
      expect(subject).not.toContain("\n");
    });

    it("is text in every mail, digest and page, with and without a session", async () => {
      const allowed = await ours();
      for (const { name, html } of await documentsOf(fleet))
        expect({ name, problems: htmlProblems(html, allowed) }).toEqual({ name, problems: [] });
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

    it("reaches a terminal only as text", async () => {
      const { address } = await served(fleet);
      const [id = ""] = idsOf(fleet).filter((one) => one.length > 24);
      const lines = [
        ["status"],
        ["status", "--output", "json"],
        ["status", "--alerts"],
        ["status", "--alerts", "--output", "json"],
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

    it("is written to logs in one line", () => {
      for (const line of fleet.lines) expect(sentenceOf(line, String).length).toBeLessThan(20_000);
    });
  },
);

describe("a mail about a hostile fleet, on the wire", () => {
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

  it("has only our headers, and one recipient", async () => {
    for (const fleet of fleets) {
      const all = [...notificationsOf(fleet)];
      for (const notification of [...all.slice(0, 6), ...all.slice(-3)]) {
        const conversation = { id: "0123456789abcdef", openedAt: 0, handle: "<first@lenswatch>", isOver: false };
        const content = renderEmail({ ...notification, conversation }, addresses);
        await transport.sendMail(content, new AbortController().signal);
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
