import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createMembers } from "../../src/notify/slack/members.ts";
import { createSlackApi } from "../../src/notify/slack/web-api.ts";
import { type SlackStandIn, startSlackStandIn } from "../support/slack/stand-in.ts";

let slack: SlackStandIn;
let now = 0;
beforeAll(async () => {
  slack = await startSlackStandIn({ channels: ["ops"], rateLimits: false });
});
afterAll(() => slack.close());
beforeEach(() => {
  slack.calls.length = 0;
  slack.channel("ops").members = ["U0ANA"];
});

function start() {
  const api = createSlackApi({ apiBase: slack.apiUrl.replace(/\/$/, ""), token: slack.tokens.bot, timeoutMs: 5_000 });
  const members = createMembers(api, { now: () => now });
  const { id } = slack.channel("ops");
  return (user: string) => members.has(id, user, new AbortController().signal);
}

test("somebody is in a channel of many pages, or not", async () => {
  slack.channel("ops").members = [...Array.from({ length: 2_500 }, (_, i) => `U${i}`), "U0ANA"];
  const has = start();
  expect([await has("U0ANA"), await has("U0EVE")]).toEqual([true, false]);
  expect(slack.calls.map(({ method }) => method)).toEqual(Array(6).fill("conversations.members"));
});

test("is asked again after a minute, and of somebody who was not there after two seconds", async () => {
  const has = start();
  expect([await has("U0ANA"), await has("U0BEN")]).toEqual([true, false]);
  slack.channel("ops").members = ["U0BEN"];
  now += 1_999;
  expect([await has("U0ANA"), await has("U0BEN")]).toEqual([true, false]);
  now += 1;
  expect([await has("U0ANA"), await has("U0BEN")]).toEqual([true, true]);
  now += 60_000;
  expect(await has("U0ANA")).toBe(false);
});

test("cannot be said without the scope: it names the scope, and asks again", async () => {
  slack.scopes.bot.delete("channels:read");
  const has = start();
  const code = await has("U0ANA").catch((thrown: unknown) => thrown);
  expect(code).toMatchObject({ code: "auth", message: expect.stringContaining("add the scope channels:read") });
  slack.scopes.bot.add("channels:read");
  expect(await has("U0ANA")).toBe(true);
});
