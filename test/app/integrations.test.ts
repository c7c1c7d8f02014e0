import { expect, it } from "vitest";
import { pacedBy } from "../../src/alerting/route.ts";
import { planIntegrations } from "../../src/app/integrations.ts";
import { configOf, service } from "../config/text.ts";

it("every webhook and every recipient is its own integration; they may share an endpoint", () => {
  const url = "https://hooks.slack.com/services/T/B/secret";
  const config = configOf(`${service}
receivers:
  - name: ops
    slack_configs: [{ api_url: "${url}" }]
    email_configs: [{ to: [a@example.com, b@example.com], send_resolved: false }]
  - name: dev
    slack_configs: [{ api_url: "${url}" }]
route: { receiver: ops }
smtp: { host: smtp.example.com, from: lenswatch@example.com }
`);
  const plans = planIntegrations(config);
  const made = plans.map(({ integration }) => integration);
  expect(made.map(({ id }) => id)).toEqual([
    "ops/slack/0",
    "ops/email/0/a@example.com",
    "ops/email/0/b@example.com",
    "dev/slack/0",
  ]);
  expect(made[0]?.endpoint).toBe(made[3]?.endpoint);
  expect(made[1]?.endpoint).toBe(made[2]?.endpoint);
  expect(made.map(({ paceMs }) => paceMs)).toEqual([1_000, 200, 200, 1_000]);
  expect(made.map(({ sendResolved }) => sendResolved)).toEqual([true, false, false, true]);
  expect(JSON.stringify(made)).not.toContain("secret");
});

it("channels of one bot token share an endpoint, and have a pace of their own", () => {
  const app = (channel: string) => `{ bot_token: xoxb-0123456789, channel: "${channel}" }`;
  const text = `${service}receivers: [{ name: ops, slack_configs: [${app("#a")}, ${app("C0B")}] }]\n`;
  const made = planIntegrations(configOf(text)).map(({ integration }) => integration);
  expect(new Set(made.map(({ endpoint }) => endpoint)).size).toBe(1);
  expect(new Set(made.map(pacedBy)).size).toBe(2);
  expect(made).toMatchObject([{ conversation: "edits" }, { conversation: "edits" }]);
  expect(JSON.stringify(made)).not.toContain("xoxb");
});
