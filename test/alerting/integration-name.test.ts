import { expect, test } from "vitest";
import { failingIntegration, integrationName } from "../../src/alerting/integration-name.ts";

test.each([
  ["ops/slack/0", "Slack (ops)"],
  ["ops/slack/1", "Slack 2 (ops)"],
  ["north/uk/email/0/amy@example.com", "amy@example.com (north/uk)"],
  ["ops/msteamsv2/0", "Teams (ops)"],
  ["gone", "gone"],
])("%s is %s", (name, words) => {
  expect(integrationName(name)).toBe(words);
});

test("an integration that fails has the present name of its receiver", () => {
  const failing = (id: string, labels: Record<string, string>) =>
    failingIntegration({ subject: { kind: "integration", id }, labels });
  const labels = { receiver: "team", integration: "email" };
  expect(failing("ops/email/0/amy@example.com", labels)).toBe("amy@example.com (team)");
  expect(failing("ops/email/0/amy@example.com", {})).toBe("amy@example.com (ops)");
});
