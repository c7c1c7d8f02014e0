import { expect, test } from "vitest";
import { fingerprint } from "../../../src/alerting/fingerprint.ts";
import { createCauses } from "../../../src/deliver/causes.ts";
import type { RecordingStatus } from "../../../src/health/recording.ts";
import type { ActiveAlert } from "../../../src/http/deps.ts";
import { silentLogger } from "../../../src/lib/log.ts";
import { renderEmail } from "../../../src/notify/email/render.ts";
import { renderPagerDuty } from "../../../src/notify/pagerduty.ts";
import { renderRoot } from "../../../src/notify/slack/conversation.ts";
import { renderSlack } from "../../../src/notify/slack/render.ts";
import { renderTeams } from "../../../src/notify/teams.ts";
import { titleOf } from "../../../src/notify/title.ts";
import { lenswatch } from "../../commands/run-command.ts";
import { fleetOf, INTERVAL, NOW, recordingState } from "../../metrics/fleets.ts";
import { notificationOf } from "../../notify/fixtures.ts";
import { aRecording } from "../../support/fixtures.ts";
import { overviewOfFleet } from "../../support/overviews.ts";
import { seededRandom } from "../../support/random.ts";
import { serve } from "../serve.ts";
import { alertOf } from "./fleet.ts";
import { elementOf, shownText } from "./read-page.ts";

const STATUSES = ["online", "online", "offline", "degraded"] as const;

/** A fleet with alerts of which some are handled or suppressed by another one. */
function worldOf(seed: number) {
  const random = seededRandom(seed);
  const pick = <T>(all: readonly T[]) => all[Math.floor(random() * all.length)] as T;
  const states = Array.from({ length: 1 + Math.floor(random() * 80) }, (_, i) => {
    const readAt = NOW - (random() < 0.2 ? 4 : 1) * INTERVAL;
    return recordingState(`r${i}`, { locationId: `l${Math.floor(i / 5)}`, status: pick(STATUSES), readAt });
  });
  const locations = [...new Set(states.map(({ locationId }) => locationId))].map((id) => ({ id, name: `Shop ${id}` }));
  const troubled = states.filter(({ status }) => status === "offline");
  const alerts = troubled.map(({ id, locationId }): ActiveAlert => {
    const labels = { alertname: "RecordingOffline", severity: "critical", recording_id: id, location_id: locationId };
    const facts = { timezone: "UTC", problem: "offline", paused: random() < 0.1 } as const;
    const alert = alertOf(id, { subject: { kind: "recording", id }, labels, facts, startsAt: NOW - random() * 3e7 });
    const some = <T>(value: T) => (random() < 0.2 ? value : undefined);
    const acknowledgement = some({ author: "dana", comment: "", at: NOW });
    return {
      alert,
      receivers: ["ops"],
      silencedBy: some(["s1"]) ?? [],
      inhibitedBy: some(["aa"]) ?? [],
      acknowledgement,
    };
  });
  return { fleet: fleetOf({ recordings: states, locations }), alerts };
}

/** `✕ 3 offline`, `3 offline` and the like, wherever they are in a text. */
function countsIn(text: string): Partial<Record<RecordingStatus, number>> {
  const found = [...text.matchAll(/(\d+) (online|offline|degraded|unknown)/g)].map(([, n, status]) => [
    status,
    Number(n),
  ]);
  return Object.fromEntries(found);
}

test("page, API, command line and message count the same", async () => {
  let now = worldOf(0);
  const { address, json } = await serve({ fleet: async () => now.fleet, alerts: async () => now.alerts });
  for (let seed = 1; seed <= 30; seed++) {
    now = worldOf(seed);
    const html = await (await fetch(address)).text();
    const shown = shownText(html);
    const badges = countsIn(shown.find((line) => / of \d+ recordings?$/.test(line)) ?? "");

    const rows = ((await json("/api/v1/recordings?limit=1000")).body as { items: { status: string }[] }).items;
    expect(badges, "recordings").toEqual(
      countsIn([...Map.groupBy(rows, ({ status }) => status)].map(([status, of]) => `${of.length} ${status}`).join()),
    );
    const places = (await json("/api/v1/locations?limit=1000")).body as {
      items: { recordings: Record<string, number> }[];
    };
    for (const status of ["online", "offline", "degraded", "unknown"] as const)
      expect(badges[status] ?? 0, "locations").toBe(
        places.items.reduce((sum, { recordings }) => sum + (recordings[status] ?? 0), 0),
      );
    const status = await lenswatch(["status", "--url", address]);
    expect(countsIn(status.stdout.trimEnd().split("\n").at(-1) ?? ""), "status").toEqual(badges);

    const needed = Number(/(\d+) needs? attention/.exec(elementOf(html, "h1"))?.[1] ?? 0);
    const api = (await json("/api/v2/alerts")).body as { status: { state: string } }[];
    expect(
      api.filter(({ status }) => status.state === "active"),
      "API v2",
    ).toHaveLength(needed);
    const alerts = await lenswatch(["status", "--alerts", "--url", address]);
    if (now.alerts.length > 0) expect(alerts.stdout).toMatch(new RegExp(`^\\S ${needed} needs? attention[;.:]`, "m"));
    const handled = shown.find((line) => /^\d+ (?:acknowledged|silenced|outside|suppressed)/.test(line)) ?? "";
    const apart = [...handled.matchAll(/\d+/g)].reduce((sum, [n]) => sum + Number(n), 0);
    expect(needed + apart, "nothing is left out").toBe(now.alerts.length);
    expect(alerts.stdout).toContain(handled);

    if (needed < 2) continue;
    const isNeeded = (_: ActiveAlert, i: number) => api[i]?.status.state === "active";
    const byPrint = now.alerts.toSorted((a, b) => (fingerprint(a.alert.labels) < fingerprint(b.alert.labels) ? -1 : 1));
    const firing = byPrint.filter(isNeeded).map(({ alert }) => ({ ...alert, fingerprint: "00", isNew: true }));
    expect(titleOf(notificationOf({ firing, groups: 2 })), "message").toContain(`${needed} recordings offline`);
  }
});

/** Most recordings of a camera server go offline together, at three locations; some alerts are handled. */
function outageOf(seed: number) {
  const random = seededRandom(seed);
  const rows = Array.from({ length: 12 + Math.floor(random() * 30) }, (_, i) => {
    const server = i % 3 === 0 || random() < 0.2 ? "edge-7" : "edge-8";
    return { id: `r${i}`, at: `l${i % 3}`, server, isDown: server === "edge-7" ? random() < 0.97 : random() < 0.01 };
  });
  const states = rows.map(({ id, at, isDown }) =>
    recordingState(id, { locationId: at, status: isDown ? "offline" : "online", readAt: NOW }),
  );
  const servers = new Map(rows.map(({ id, server }) => [id, aRecording(id, { cameraServer: server })]));
  const alerts = rows
    .filter(({ isDown }) => isDown)
    .map(({ id, at, server }) => {
      const labels = { alertname: "RecordingOffline", recording_id: id, location_id: at, camera_server: server };
      const alert = alertOf(id, { subject: { kind: "recording", id }, labels, startsAt: NOW - random() * 60_000 });
      const offline = { ...alert, facts: { timezone: "UTC", problem: "offline" as const } };
      const [silencedBy, inhibitedBy, mutedBy] = [random() < 0.02 ? ["s1"] : [], [], []];
      const more = { acknowledgement: undefined, endedAcknowledgement: undefined, receivers: ["ops"] };
      return { alert: offline, silencedBy, inhibitedBy, mutedBy, ...more };
    });
  const inventory = { recording: (id: string) => servers.get(id), location: () => undefined };
  return { fleet: { ...fleetOf({ recordings: states }), inventory }, alerts };
}

const CLAUSE = /(?:all \d+|\d+ of \d+) recordings of camera server edge-7(?:, no other)?/gi;

test("page, API, command line and every message say the same of what alerts share", async () => {
  let now = outageOf(0);
  const { address, json } = await serve({ fleet: async () => now.fleet, alerts: async () => now.alerts });
  const said = new Set<string>();
  for (let seed = 1; seed <= 60; seed++) {
    now = outageOf(seed);
    const clausesIn = (text: string) => [...new Set(text.match(CLAUSE)?.map((one) => one.toLowerCase()))];
    const page = clausesIn(shownText(await (await fetch(address)).text()).join("\n"));
    for (const clause of page) said.add(clause.replace(/\d+(?= of| rec)/g, "n"));

    const rows = ((await json("/api/v1/overview")).body as { incidents: { cause: { text: string } | null }[] })
      .incidents;
    expect(clausesIn(rows.map(({ cause }) => cause?.text).join()), "API").toEqual(page);
    for (const what of [[], ["--alerts"]])
      expect(clausesIn((await lenswatch(["status", ...what, "--url", address])).stdout), what.join()).toEqual(page);

    const overview = async () => overviewOfFleet(now.fleet);
    const known = { log: silentLogger, overview, suppressed: async () => now.alerts };
    const firing = now.alerts.map(({ alert }) => ({ ...alert, fingerprint: "00", isNew: true }));
    const causes = await createCauses(known)(firing);
    for (const groups of [2, undefined]) {
      const notification = notificationOf({ firing, groups, causes });
      const slack = renderSlack(notification);
      const mail = renderEmail(notification, { from: "a@b.example", sender: "a@b.example", to: [], recipient: "" });
      const plain = { sendResolved: true };
      const texts = [slack.text, slack.attachments, mail.text, mail.html, renderTeams(notification)];
      for (const text of [...texts, renderPagerDuty(notification, plain), renderRoot(notification)])
        expect(clausesIn(JSON.stringify(text)), "message").toEqual(page);
    }
  }
  const exact = ["all n recordings of camera server edge-7", "n of n recordings of camera server edge-7"];
  expect([...said].sort()).toEqual([exact[0], `${exact[0]}, no other`, exact[1], `${exact[1]}, no other`].sort());
});
