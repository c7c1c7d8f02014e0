/** Handovers: what they say of a night, and that they reach mail, Slack, the page and the command line. */
import { expect, it, onTestFinished } from "vitest";
import { plainText } from "../../src/alerting/document.ts";
import { handoverOf, type Shift } from "../../src/alerting/handover.ts";
import { incidentsOf } from "../../src/alerting/incident.ts";
import { parseMatcher } from "../../src/alerting/matcher.ts";
import { planIntegrations } from "../../src/app/integrations.ts";
import { parseConfig } from "../../src/config/load.ts";
import { readHandover } from "../../src/digest/read-handover.ts";
import { createDigestJob } from "../../src/digest/send.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { renderHtml } from "../../src/notify/email/render.ts";
import { createSlackNotifier } from "../../src/notify/slack/send.ts";
import { lenswatch } from "../commands/run-command.ts";
import { serve } from "../http/serve.ts";
import { useTestStore } from "../store/fixtures.ts";
import { anAlert } from "../support/fixtures.ts";
import { slackProblems } from "../support/harmless.ts";
import { startHttpSink } from "../support/http-sink.ts";
import { describeWithRedis } from "../support/redis.ts";

const at = (clock: string) => Date.parse(`2026-11-27T${clock}:00Z`);
const NOW = at("08:00");
const span = { from: Date.parse("2026-11-26T20:00:00Z"), to: NOW };

const camera = (id: string, location: string, from: string, to?: string) => ({
  ...{
    id: `Offline/recording/${id}@${at(from)}`,
    subject: { kind: "recording" as const, id },
    problem: "offline" as const,
  },
  ...{ locationId: location, startsAt: at(from), endsAt: to === undefined ? undefined : at(to) },
});
const notified = (id: string, integration: string, when: string) => ({
  ...{ subject: { kind: "recording" as const, id }, ruleId: "Offline", at: at(when), reason: "notified", integration },
});

const by = (id: string, reason: string, detail: string, when: string) => ({
  ...{ subject: { kind: "recording" as const, id }, ruleId: "Offline", at: at(when), reason, detail },
});

const till = anAlert({
  id: camera("till", "leeds", "07:02").id,
  labels: { recording: "Leeds Tills", location: "Leeds", region: "north", severity: "critical" },
});

const night: Shift = {
  ...{ span, now: NOW, timezone: "Europe/London" },
  incidents: incidentsOf([
    ...Array.from({ length: 8 }, (_, i) => camera(`n${i}`, "norwich", "02:31", "03:41")),
    camera("door", "bath", "06:10"),
    camera("till", "leeds", "07:02"),
    camera("safe", "york", "01:02", "01:03"),
    camera("safe", "york", "01:31", "01:32"),
  ]),
  alerts: new Map([[till.id, till]]),
  acknowledgements: new Map([
    [
      `Offline/recording/door@${at("06:10")}`,
      {
        ...{ at: at("06:20"), author: "Amy", comment: "engineer 09:00", until: at("09:00") },
        notes: [{ at: at("06:30"), author: "Ben", text: "router is up" }],
      },
    ],
  ]),
  lines: [
    notified("n1", "ops/slack/0", "02:33"),
    ...["n1", "n2"].map((id) => by(id, "ack_set", "Bob: engineer on the way", "02:40")),
    by("n1", "ack_noted", "Amy: spoke to Joan", "03:00"),
    by("n1", "ack_set", "Lee: another night", "23:00"),
    notified("door", "ops/slack/0", "06:12"),
    notified("door", "ops/email/0/a@b", "06:13"),
  ],
  silences: [
    {
      ...{
        id: "s",
        matchers: [parseMatcher('location="York"')],
        startsAt: at("00:00"),
        endsAt: at("10:00"),
        updatedAt: at("00:00"),
      },
      ...{ createdBy: "Amy", comment: "refit", annotations: {} },
    },
  ],
  maintenance: [{ name: "stock-take", until: at("12:00") }],
  notes: [{ at: at("05:00"), author: "Amy", text: "Bath calls back at nine" }],
  names: {
    recording: (id) => ({ door: "Bath Entrance", till: "Leeds Tills" })[id],
    location: (id) => id[0]?.toUpperCase() + id.slice(1),
  },
};

it("has what is open and who has it, what is over, what ends soon, who was notified, and what people wrote", () => {
  const document = handoverOf(night);
  expect(document.title.length).toBeLessThan(70);
  expect(`${document.title}\n\n${plainText(document)}`).toMatchInlineSnapshot(`
    "Handover Thu 26 Nov 20:00–today 08:00 GMT: 2 open, 2 over

    2 incidents are open, 1 of them neither acknowledged nor silenced.

    Notes of the shift (1)

    Amy, 05:00 GMT
      Bath calls back at nine

    Open (2)

    Tills · Leeds: offline · I-K18AN
      since 07:02 GMT, for 58 m; unacknowledged
      Nobody was notified of it.

    Entrance · Bath: offline · I-XM47S
      since 06:10 GMT, for 1 h 50 m; acknowledged by Amy until 09:00 GMT
      Amy, 06:20 GMT: engineer 09:00
      Ben, 06:30 GMT: router is up
      Notified Slack (ops) at 06:12 GMT, a@b (ops) at 06:13 GMT

    Over (2)

    8 cameras at Norwich offline · I-B8JNH
      02:31 GMT to 03:41 GMT, 1 h 10 m
      02:40 GMT: acknowledged by Bob: engineer on the way
      03:00 GMT: note by Amy: spoke to Joan
      Notified Slack (ops) at 02:33 GMT

    safe · York: offline · I-SSJ98
      01:02 GMT to 01:32 GMT, 2 m in all

    Silences and maintenance that end within a day (2)

    Silence location="York"
      ends 10:00 GMT; by Amy: refit

    Maintenance stock-take
      ends 12:00 GMT"
  `);
});

it.each([
  ["all of it", ['location="Leeds"'], "unacknowledged, silenced by Amy until 10:00 GMT"],
  ["another place", ['location="York"'], "unacknowledged"],
  ["its region", ['region="north"'], "unacknowledged, silenced by Amy until 10:00 GMT"],
  ["how bad it is", ['severity="critical"'], "unacknowledged, silenced by Amy until 10:00 GMT"],
  ["others that are worse", ['location="Leeds"', 'severity="page"'], "unacknowledged"],
])("names the silence of an open incident where it covers %s", (_, matchers, words) => {
  const silences = night.silences.map((one) => ({ ...one, matchers: matchers.map((text) => parseMatcher(text)) }));
  const { sections, lead } = handoverOf({ ...night, silences });
  const open = sections.find(({ heading }) => heading?.startsWith("Open"));
  expect(open?.rows[0]?.text).toBe(`since 07:02 GMT, for 58 m; ${words}`);
  expect(lead).toEqual([
    words === "unacknowledged"
      ? "2 incidents are open, 1 of them neither acknowledged nor silenced."
      : "2 incidents are open, and each is acknowledged or silenced.",
  ]);
});

it("of a calm shift says so", () => {
  const document = handoverOf({ ...night, incidents: [], lines: [], silences: [], maintenance: [], notes: [] });
  expect([document.title, plainText(document), document.tone]).toMatchInlineSnapshot(`
    [
      "Handover Thu 26 Nov 20:00–today 08:00 GMT: 0 open, 0 over",
      "No incident is open.",
      "good",
    ]
  `);
});

const configured = () => {
  const loaded = parseConfig(
    `
service: { base_url: "http://a", ws_url: "ws://a", auth_url: "http://a", client_id: x, client_secret: x, audience: x }
receivers: [ { name: ops, slack_configs: [ { api_url: "https://hooks.slack.com/services/x" } ] } ]
smtp: { host: h, from: a@b }
digests: [ { name: night, period: shift, shift: { from: "20:00", to: "08:00" }, to: [ a@b ], slack: ops, timezone: UTC } ]
`,
    { file: "lenswatch.yaml", env: {}, readSecret: () => "" },
  );
  if ("problems" in loaded) throw new Error(JSON.stringify(loaded.problems));
  return loaded.config;
};

it.each([
  ["digests: [ { name: n, period: shift, to: [ a@b ] } ]", "digests[0].shift"],
  ['digests: [ { name: n, shift: { from: "20:00", to: "08:00" }, to: [ a@b ] } ]', "digests[0].period"],
  ['digests: [ { name: n, period: shift, shift: { from: "20", to: "08:00" }, to: [ a@b ] } ]', "digests[0].shift.from"],
  ['digests: [ { name: n, period: shift, shift: { from: "20:00", to: "08:00" }, slack: opps } ]', "digests[0].slack"],
  ["digests: [ { name: n } ]", "digests[0].to"],
])("a shift that cannot be is refused: %s", (digests, where) => {
  const text = `smtp: { host: h, from: a@b }\nreceivers: [ { name: ops } ]\n${digests}`;
  const loaded = parseConfig(text, { file: "lenswatch.yaml", env: {}, readSecret: () => "" });
  const problems = "problems" in loaded ? loaded.problems.map((one) => JSON.stringify(one)) : [];
  expect(problems.join("\n")).toContain(where);
});

describeWithRedis("the digest of a shift", () => {
  const testStore = useTestStore();

  it("is sent once, as mail and as a Slack post, with the notes that people added", async () => {
    const { store } = testStore();
    const sink = await startHttpSink();
    sink.respond({ status: 200, body: "ok" });
    onTestFinished(() => sink.close());
    const config = configured();
    expect(config.digests[0]?.cron).toBe("0 8 * * *");
    await store.shiftNotes.add({ at: at("05:00"), author: "Amy", text: `<b>nine</b> \u001b[2J\u202e` });
    await store.shiftNotes.add({ at: at("09:00"), author: "Amy", text: "after the shift" });
    const slack = createSlackNotifier({ apiUrl: `${sink.url}/hook`, timeoutMs: 5_000, log: silentLogger });
    onTestFinished(() => slack.close());
    const [plan] = planIntegrations(config);
    const letters: { readonly subject: string; readonly html: string }[] = [];
    const send = createDigestJob({
      ...{ config, store, clock: { now: () => NOW }, log: silentLogger, isPassing: () => true, renderHtml },
      fleet: () => Promise.reject(new Error("a handover reads no figures")),
      mail: { send: async ({ subject, html }) => void letters.push({ subject: String(subject), html: String(html) }) },
      byId: new Map([["ops/slack/0", { integration: plan?.integration as never, ...slack }]]),
    });
    expect([await send("night", NOW), await send("night", NOW)]).toEqual([true, true]);
    expect(letters.map(({ subject }) => subject)).toEqual([
      "Handover Thu 26 Nov 20:00–today 08:00 UTC: 0 open, 0 over",
    ]);
    expect(letters[0]?.html).toContain("&lt;b&gt;nine&lt;/b&gt;");
    expect(letters[0]?.html).not.toContain("after the shift");
    expect(sink.messages.map(({ text }) => text.includes("&lt;b&gt;nine"))).toEqual([true]);
    expect(slackProblems(JSON.parse(sink.messages[0]?.text ?? ""))).toEqual([]);
  });

  it("is printed and shown, and takes notes", async () => {
    const { store } = testStore();
    const clock = { now: () => NOW };
    const { address } = await serve({
      ...{ adminToken: "admin", clock },
      handover: (within, zone) => readHandover({ store, config: {}, clock }, within, zone),
      addShiftNote: (note) => store.shiftNotes.add(note),
    });
    const env = { TZ: "Europe/London", USER: "amy", LENSWATCH_ADMIN_TOKEN: "admin" };
    const run = (...argv: string[]) => lenswatch(["handover", ...argv, "--url", address], env);
    expect(await run("--note", "engineer at nine")).toMatchObject({ stdout: "noted by amy\n", stderr: "" });
    const { stdout } = await run();
    expect(stdout).toMatch(
      /^Handover .+: 0 open, 0 over\n\nNo incident is open\.\n\nNotes of the shift \(1\)\n\namy, 08:00 GMT\n {2}engineer at nine\n$/,
    );
    expect((await run("--since", "soon")).exitCode).toBe(2);
    const page = await (await fetch(`${address}/handover?since=20:00&timezone=UTC`)).text();
    expect(page).toContain("engineer at nine");
    expect((await fetch(`${address}/api/v1/handover?since=2026-11-01T00:00:00Z`)).status).toBe(400);
  });
});
