import { describe, expect, it } from "vitest";
import { createTeamsNotifier, renderTeams } from "../../src/notify/teams.ts";
import { startHttpSink } from "../support/http-sink.ts";
import { describeChannel, type RigOptions } from "./contract.ts";
import { alertOf, endedOf, notificationOf } from "./fixtures.ts";
import { CANARY, type HttpRig, httpFaults } from "./http-faults.ts";

async function startRig({ timeoutMs, log }: RigOptions): Promise<HttpRig> {
  const sink = await startHttpSink();
  sink.respond({ status: 202 });
  const http = { authorization: undefined, basicAuth: undefined, tls: undefined };
  const notifier = createTeamsNotifier({
    webhookUrl: `${sink.url}/workflows/${CANARY}?sig=${CANARY}`,
    http,
    timeoutMs,
    log,
  });
  return {
    sink,
    notifier,
    secrets: [CANARY],
    accepted: () => sink.messages.length,
    hang: () => sink.respond("hang"),
    vanish: () => sink.close(),
    async close() {
      await notifier.close();
      await sink.close();
    },
  };
}

describeChannel("Teams", startRig, [
  ...httpFaults,
  {
    when: "an older connector accepts what Teams then throttles",
    arrange: ({ sink }) =>
      sink.respond({ status: 200, body: `Webhook message delivery failed with error: HTTP error 429 ${CANARY}` }),
    code: "rate_limited",
    retryable: true,
    scope: "endpoint",
  },
]);

describe("a card for Teams", () => {
  const textsOf = (card: ReturnType<typeof renderTeams>) =>
    card.attachments[0]?.content.body.map((block) =>
      (block as { inlines: { text: string }[] }).inlines.map(({ text }) => text).join(""),
    ) ?? [];

  it("says what a message says, with links to what it is about", () => {
    const card = renderTeams(
      notificationOf({ firing: [alertOf("Till 3")], externalUrl: "https://watch.example.com", reason: "first" }),
    );
    const [title = "", ...lines] = textsOf(card);
    expect(`${title} ${lines.join(" ")}`).toMatch(/Till 3.*offline/);
    const actions = card.attachments.flatMap(({ content }) => ("actions" in content ? content.actions : []));
    expect(actions.map((one) => new URL(one?.url ?? "").origin)).toContain("https://watch.example.com");
  });

  it("lists as many as fit into 28 KB, and counts the others", () => {
    const long = "a very long name of a till, with ümlauts ".repeat(5);
    const firing = Array.from({ length: 200 }, (_, i) =>
      alertOf(`${long} ${i}`, {
        labels: { alertname: "RecordingOffline", location: `${long} ${i}`, location_id: `${i}` },
      }),
    );
    const resolved = firing.slice(0, 100).map((_, i) => endedOf(`${long} ended ${i}`));
    const card = renderTeams(notificationOf({ firing, resolved }));
    expect(Buffer.byteLength(JSON.stringify(card))).toBeLessThan(28_000);
    expect(textsOf(card).filter((text) => /^and \d+ more/.test(text))).toHaveLength(2);
  });
});
