/** The configuration as Alertmanager would have it: held against Alertmanager's own loader and routing. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { routesFor } from "../../../src/alerting/route.ts";
import type { Config } from "../../../src/config/config.ts";
import { parseConfig } from "../../../src/config/load.ts";
import { alertmanagerConfig } from "../../../src/http/v2/config-original.ts";
import { amtool, amtoolAt, testWithAmtool } from "../../support/amtool.ts";
import { temporaryDirectory } from "../../support/directory.ts";
import { serve } from "../serve.ts";

const SECRETS = [
  "s3cret-client",
  "T000/B000/s3cret",
  "s3cret-password",
  "s3cret-admin-token",
  "s3cret-read-token",
  "s3cret-path",
  "s3cret-key",
  "s3cret-signing",
];

const TEXT = String.raw`
service:
  base_url: https://core.example.com
  ws_url: wss://metrics.example.com
  auth_url: https://issuer.example.com
  client_id: id
  client_secret: s3cret-client
  audience: https://core.example.com
route:
  receiver: ops
  group_by: [location_id]
  group_wait: 0s
  repeat_interval: 1w
  storm: { groups: 3 }
  routes:
    - matchers: [severity = "critical"]
      receiver: pager
      continue: true
      group_by: ["..."]
      routes:
        - matchers: ['location =~ "Leeds.*|York"', "organisation != acme"]
          receiver: north
          mute_time_intervals: [night, holidays]
        - matchers: ['location !~ "x"']
          receiver: "south: [1]"
          continue: true
    - matchers: ['severity =~ "warning|info"']
      receiver: quiet
      active_time_intervals: [working hours]
      repeat_interval: 1d
    - matchers: ['alertname = "Say \"hi\", {you}\\n"']
      receiver: north
    - matchers: ['team = ""', 'site != ""']
      receiver: "south: [1]"
receivers:
  - name: ops
    slack_configs: [{ api_url: https://hooks.slack.com/services/T000/B000/s3cret }]
  - name: pager
    email_configs: [{ to: [a@example.com, b@example.com], send_resolved: false }]
    slack_configs:
      - { api_url: https://hooks.slack.com/services/T000/B000/s3cret, send_resolved: false }
  - name: north
    webhook_configs:
      - { url: "https://hooks.example.com:8443/s3cret-path?k=s3cret-key", secret: s3cret-signing, max_alerts: 7 }
    alertmanager_configs: [{ url: "http://alertmanager:9093" }]
  - name: "south: [1]"
  - name: quiet
time_intervals:
  - name: night
    time_intervals:
      - times: [{ start_time: "20:00", end_time: "24:00" }, { start_time: "00:00", end_time: "06:30" }]
        weekdays: ["monday:friday", sunday]
        location: Europe/London
  - name: holidays
    time_intervals:
      - { days_of_month: ["24:26", "-1"], months: [december], years: ["2026:2030"] }
      - { days_of_month: ["1:-1"], months: ["july:august"] }
  - name: working hours
    time_intervals: [{ times: [{ start_time: "09:00", end_time: "17:00" }] }]
smtp:
  host: smtp.example.com
  from: lenswatch@example.com
  username: lenswatch
  password: s3cret-password
http: { admin_token: s3cret-admin-token, read_token: s3cret-read-token }
`;

function load(text = TEXT): Config {
  const parsed = parseConfig(text, { file: "story.yaml", env: {} });
  if ("problems" in parsed) throw new Error(JSON.stringify(parsed.problems, null, 1));
  return parsed.config;
}

describe("GET /api/v2/status gives the configuration", () => {
  const config = load();

  test("with the words of Alertmanager, and none of its own", () => {
    expect(alertmanagerConfig(config)).toMatchSnapshot();
  });

  test("without any secret", async () => {
    const { get } = await serve({
      config: () => config,
      readToken: "s3cret-read-token",
      adminToken: "s3cret-admin-token",
    });
    const text = await (await get("/api/v2/status", { authorization: "Bearer s3cret-read-token" })).text();
    expect(text).toContain("<secret>");
    expect(SECRETS.filter((secret) => text.includes(secret))).toEqual([]);
  });

  testWithAmtool("so that Alertmanager's strict loader accepts it", async () => {
    const file = join(await temporaryDirectory(), "alertmanager.yaml");
    await writeFile(file, alertmanagerConfig(config));
    const said = await amtool("check-config", file);
    expect(said).toContain("SUCCESS");
    expect(said).toMatch(/- 8 inhibit rules\n - 5 receivers/);
    expect(said).toContain("- global config");
  });

  testWithAmtool("so that amtool shows its routes", async () => {
    const tree = await (await amtoolAt((await serve({ config: () => config })).address))("config", "routes", "show");
    expect(tree).toContain('{severity="critical"}  continue: true  receiver: pager');
    expect(tree).toContain("receiver: north");
  });

  const labelSets: Record<string, string>[] = [
    {},
    { alertname: "RecordingOffline" },
    { severity: "critical" },
    { severity: "critical", location: "Leeds Briggate" },
    { severity: "critical", location: "Leeds Briggate", organisation: "acme" },
    { severity: "critical", location: "York" },
    { severity: "critical", location: "Yorkshire" },
    { severity: "critical", location: "x" },
    { severity: "critical", location: "x", site: "a" },
    { severity: "critical", site: "a", team: "b" },
    { severity: "warning" },
    { severity: "info", location: "York" },
    { severity: "warnings" },
    { severity: "warning|info" },
    { alertname: 'Say "hi", {you}\n' },
    { alertname: 'Say "hi", {you}\\n' },
    { site: "a" },
    { site: "a", team: "b" },
    { team: "b" },
  ];

  testWithAmtool.each(labelSets)("so that amtool routes %j as lenswatch does", async (labels) => {
    const run = await amtoolAt((await serve({ config: () => config })).address);
    const given = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
    const own = routesFor(config.route, labels).map(({ receiver }) => receiver);
    expect(await run("config", "routes", "test", ...given)).toBe(own.join(","));
  });

  testWithAmtool("also where it is the smallest there is", async () => {
    const smallest = load(
      `${TEXT.slice(0, TEXT.indexOf("route:"))}receivers: [{ name: ops, slack_configs: [{ api_url: https://hooks.slack.com/x }] }]`,
    );
    const file = join(await temporaryDirectory(), "alertmanager.yaml");
    await writeFile(file, alertmanagerConfig(smallest));
    expect(await amtool("check-config", file)).toContain("SUCCESS");
  });
});
