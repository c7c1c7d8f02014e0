/** The same fleet has the same worst state on every surface. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { NotifiedAlert, SuppressionReason } from "../../../src/alerting/model.ts";
import { looks, type Tone, tones } from "../../../src/alerting/tone.ts";
import { type Alert, alertKey } from "../../../src/health/alert.ts";
import type { RecordingState } from "../../../src/health/shard-state.ts";
import type { ActiveAlert } from "../../../src/http/deps.ts";
import { renderEmail } from "../../../src/notify/email/render.ts";
import { renderRoot } from "../../../src/notify/slack/conversation.ts";
import { renderTeams } from "../../../src/notify/teams.ts";
import { lenswatch } from "../../commands/run-command.ts";
import { alertState, fleetOf, NOW, recordingState } from "../../metrics/fleets.ts";
import { notificationOf } from "../../notify/fixtures.ts";
import { serve } from "../serve.ts";
import { alertOf } from "./fleet.ts";

const SEVERITIES: Readonly<Record<string, Tone>> = {
  critical: "critical",
  error: "critical",
  PAGE: "critical",
  warning: "warning",
  warn: "warning",
  info: "info",
  sev2: "info",
};
/** What somebody did about an alert, as the page and as messages have it. */
const HANDLED: Readonly<Record<string, readonly [Partial<ActiveAlert>, SuppressionReason]>> = {
  acknowledged: [{ acknowledgement: { author: "dana", comment: "", at: NOW } }, "acknowledged"],
  silenced: [{ silencedBy: ["s1"] }, "silenced"],
  maintenance: [{ maintenance: { reason: "maintenance", by: "works" } }, "maintenance"],
  muted: [{ mutedBy: ["nights"] }, "muted"],
};

const fired = fc.record({
  severity: fc.constantFrom(...Object.keys(SEVERITIES)),
  by: fc.option(fc.constantFrom(...Object.keys(HANDLED)), { nil: undefined, freq: 2 }),
});
const camera = fc.record({
  status: fc.constantFrom("online", "offline", "degraded"),
  alert: fc.option(fired, { nil: undefined, freq: 3 }),
});
const fleets = fc.array(fc.array(camera, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 });
type Camera = typeof camera extends fc.Arbitrary<infer T> ? T : never;

const worst = (all: readonly Tone[]) => tones.find((tone) => all.includes(tone)) ?? "good";
const toneOfAlert = ({ severity, by }: NonNullable<Camera["alert"]>) =>
  by === undefined ? (SEVERITIES[severity] ?? "info") : "info";
/** The oracle: by alerts; a status by itself needs nobody. */
const expected = (cameras: readonly Camera[]) =>
  worst(
    cameras.flatMap(({ status, alert }) => [
      ...(alert ? [toneOfAlert(alert)] : []),
      ...(status === "online" ? [] : ["info" as const]),
    ]),
  );

const locationOf = (i: number) => `loc${i}`;
const idOf = (i: number, j: number) => `camera${i}x${j}`;

function built(places: readonly (readonly Camera[])[]) {
  const states: RecordingState[] = [];
  const active: (ActiveAlert & { readonly reason: SuppressionReason | undefined })[] = [];
  for (const [i, cameras] of places.entries())
    for (const [j, { status, alert }] of cameras.entries()) {
      const [id, locationId] = [idOf(i, j), locationOf(i)];
      const labels = { alertname: "R", severity: alert?.severity ?? "", recording_id: id, location_id: locationId };
      const alerts = alert && { R: alertState("R", { labels }) };
      states.push(recordingState(id, { locationId, status, alerts }));
      const [suppressed, reason] = HANDLED[alert?.by ?? ""] ?? [{}, undefined];
      const subject = { kind: "recording", id } as const;
      const one = alertOf("R", { key: alertKey("R", "recording", id), id: `${id}@1`, subject, labels });
      if (alert) active.push({ alert: one, receivers: ["ops"], ...suppressed, reason });
    }
  const locations = places.map((_, i) => ({ id: locationOf(i), name: `Shop ${i}` }));
  return { fleet: fleetOf({ recordings: states, locations }), active };
}

const notified = ({ alert, reason }: { alert: Alert; reason: SuppressionReason | undefined }): NotifiedAlert => ({
  ...alert,
  ...{ fingerprint: "0123456789abcdef", isNew: true },
  suppressedBy: reason && { reason, by: "somebody" },
});

/** The tones that a message has, by its sign and its colours. */
function messageTones(all: Parameters<typeof notified>[0][]): (Tone | undefined)[] {
  const notification = notificationOf({ firing: all.map(notified) });
  const toneWith = (isIt: (tone: Tone) => boolean) => tones.find(isIt);
  const to = { from: "a@example.com", sender: "a@example.com", to: ["b@example.com"], recipient: "b@example.com" };
  const [root, mail] = [renderRoot(notification), renderEmail(notification, to)];
  const card = JSON.stringify(renderTeams(notification));
  return [
    toneWith((tone) => root.text?.startsWith(looks[tone].sign) === true),
    toneWith((tone) => root.attachments?.[0]?.color === looks[tone].colour),
    toneWith((tone) => mail.subject.startsWith(looks[tone].sign)),
    toneWith((tone) => mail.html?.includes(`background:${looks[tone].colour}`) === true),
    toneWith((tone) => card.includes(looks[tone].sign) && card.includes(`"color":"${looks[tone].card}"`)),
  ];
}

test("page, tile, favicon, API, command line, Slack, mail and Teams show the same tone", async () => {
  let now = built([]);
  const { address, get, json } = await serve({ fleet: async () => now.fleet, alerts: async () => now.active });
  const page = async (path: string) => (await get(path, { accept: "text/html" })).text();
  const leadOf = (html: string) => /<div class="lead (\w+)">/.exec(html)?.[1];
  const iconOf = (html: string) =>
    tones.find((tone) => html.includes(encodeURIComponent(`fill="${looks[tone].colour}"`)));
  await fc.assert(
    fc.asyncProperty(fleets, async (places) => {
      now = built(places);
      const tone = expected(places.flat());
      const board = await page("/");
      const answer = (await json("/api/v1/overview")).body as { tone: Tone };
      const { stdout } = await lenswatch(["status", "--url", address], { TZ: "UTC" });
      const cli = tones.find((one) => stdout.startsWith(`${looks[one].mark} `));
      expect([leadOf(board), iconOf(board), answer.tone, cli]).toEqual([tone, tone, tone, tone]);
      if (now.active.length > 0) expect(new Set(messageTones(now.active))).toEqual(new Set([tone]));
      for (const [i, cameras] of places.entries()) {
        const here = expected(cameras);
        const runs = [...board.matchAll(/<div class="(\w+)" role="group"[^>]*>(.*?)<\/div>/gs)];
        const tile = runs.find(([, , tiles]) => tiles?.includes(`?l=${locationOf(i)}"`))?.[1];
        expect([leadOf(await page(`/?location=${locationOf(i)}`)), tile]).toEqual([here, here]);
        const own = now.active.filter(({ alert }) => alert.labels.location_id === locationOf(i));
        if (own.length > 0) expect(new Set(messageTones(own))).toEqual(new Set([here]));
        for (const [j, one] of cameras.entries())
          expect(leadOf(await page(`/recordings/${idOf(i, j)}`))).toBe(expected([one]));
      }
    }),
    { numRuns: 30 },
  );
});
