import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ExitCode } from "../../src/commands/cli/command.ts";
import { service } from "../config/text.ts";
import { type SlackAnswer, type SlackStandIn, standInScopes, startSlackStandIn } from "../support/slack/stand-in.ts";
import { lenswatch } from "./run-command.ts";

it("prints a manifest that Slack takes, with every scope that is used", async () => {
  const manifest = JSON.parse((await lenswatch(["slack", "manifest"])).stdout);
  expect(manifest.oauth_config.scopes.bot).toEqual(standInScopes);
  expect(manifest.settings).toMatchObject({ socket_mode_enabled: true, interactivity: { is_enabled: true } });
  // docs.slack.dev, app manifest reference: the longest of each.
  const { display_information: shown, features } = manifest;
  expect(shown.name.length).toBeLessThanOrEqual(35);
  expect(shown.description.length).toBeLessThanOrEqual(140);
  expect(shown.background_color).toMatch(/^#[0-9a-f]{6}$/);
  expect(features.bot_user.display_name).toMatch(/^[\w.-]{1,80}$/);
  expect(features).not.toHaveProperty("slash_commands");
});

describe("notify-test of the Slack app", () => {
  let slack: SlackStandIn;
  let file: string;

  beforeAll(async () => {
    slack = await startSlackStandIn({ rateLimits: false });
    file = join(await mkdtemp(join(tmpdir(), "lenswatch-slack-")), "lenswatch.yaml");
    const { bot, app } = slack.tokens;
    const entry = `{ bot_token: ${bot}, channel: "#ops", app_token: ${app} }`;
    await writeFile(
      file,
      `${service}receivers: [{ name: ops, slack_configs: [${entry}] }]\nslack_api_url: ${slack.apiUrl}\n`,
    );
  });
  afterAll(() => slack.close());
  beforeEach(() => {
    slack.refusals.clear();
    for (const scope of standInScopes) slack.scopes.bot.add(scope);
    slack.left.clear();
  });

  it("posts one message, marked as a test", async () => {
    expect(await lenswatch(["notify-test", "ops", "--config", file])).toMatchObject({
      stdout: expect.stringMatching(/^Slack \(ops\): accepted\n/),
      exitCode: 0,
    });
    expect(slack.posts("#ops")).toMatchObject([{ text: expect.stringContaining("est") }]);
  });

  const noConnections = { error: "missing_scope", needed: "connections:write" };
  const lacking = (scope: string) => () => void slack.scopes.bot.delete(scope);
  const answering = (method: string, answer: SlackAnswer) => () => slack.refuse(method, answer);
  it.each<[string, () => void, ExitCode]>([
    ["the scope to post", lacking("chat:write"), 1],
    ["the scope of history", lacking("channels:history"), 0],
    ["the scope of members", lacking("channels:read"), 0],
    ["membership", () => void slack.left.add("ops"), 1],
    ["a valid bot token", answering("*", "invalid_auth"), 1],
    ["an app token with its scope", answering("apps.connections.open", noConnections), 0],
  ])("names what is missing: %s", async (_, arrange, exitCode) => {
    arrange();
    const told = await lenswatch(["notify-test", "ops", "--config", file]);
    expect(told).toMatchObject({ stderr: "", exitCode });
    expect(told.stdout).not.toContain(slack.tokens.bot);
    expect(told.stdout).toMatchSnapshot();
  });
});
