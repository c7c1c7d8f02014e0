/** All that is made of a fleet for people: messages, mails, digests and pages. */

import { fingerprint } from "../../src/alerting/fingerprint.ts";
import { createMatcher } from "../../src/alerting/matcher.ts";
import type { Notification, NotifyReason } from "../../src/alerting/model.ts";
import { forReader, renderDigest } from "../../src/digest/mail.ts";
import { digestPeriod } from "../../src/digest/period.ts";
import { statusOf } from "../../src/health/shard-state.ts";
import { renderEmail } from "../../src/notify/email/render.ts";
import { toStoredEpisode } from "../../src/store/episodes.ts";
import { computeDigest } from "../digest/compute-digest.ts";
import { signedIn, visit } from "../http/page/visitor.ts";
import { serve } from "../http/serve.ts";
import { NOW } from "../metrics/fleets.ts";
import { aSilence } from "../support/fixtures.ts";
import type { HostileFleet } from "../support/hostile-fleet.ts";

const REASONS: readonly NotifyReason[] = ["first", "more", "resolved", "reminder", "test"];

/** Every size and kind of message there is, of everything the fleet has to tell. */
export function* notificationsOf({ firing, ended, texts }: HostileFleet): Generator<Notification> {
  const shared = {
    receiver: texts[0] ?? "",
    integrationId: "ops/slack/0",
    group: { id: texts[7] ?? "", labels: {} },
    now: NOW,
    externalUrl: "https://lenswatch.example.com",
    messageId: texts[9] ?? "",
    trace: [],
    standing: [],
  };
  for (let from = 0, nth = 0; from < Math.max(firing.length, ended.length); nth++) {
    const size = [1, 1, 2, 5, 30][nth % 5] ?? 1;
    const reason = REASONS[nth % REASONS.length] ?? "first";
    const over = ended.slice(from, from + size);
    const now = reason === "resolved" ? [] : firing.slice(from, from + size);
    yield { ...shared, reason, firing: now, resolved: nth % 2 === 0 || now.length === 0 ? over : [] };
    from += size;
  }
  yield { ...shared, reason: "first", groups: 45, firing, resolved: [] };
  yield { ...shared, reason: "more", groups: 45, firing, resolved: ended };
  yield { ...shared, reason: "resolved", groups: 45, firing: [], resolved: ended };
}

export const addresses = {
  from: "lenswatch@example.com",
  sender: "lenswatch@example.com",
  to: ["ops@example.com"],
  recipient: "ops@example.com",
};

export async function digestOf({ snapshot, uptimes, firing, ended, locations, texts }: HostileFleet) {
  const names = new Map(locations.map(({ id, name }) => [id, name ?? id]));
  const states = snapshot.shards[0]?.recordings;
  const digest = computeDigest({
    now: NOW,
    timezone: "Europe/London",
    period: digestPeriod("1d", NOW + 86_400_000, "Europe/London"),
    recordings: uptimes.map(({ recording }) => {
      const state = states?.get(recording.id);
      return {
        recording,
        locationName: names.get(recording.locationId) ?? recording.locationId,
        status: state && statusOf(state, { now: NOW, statusIntervalMs: snapshot.statusIntervalMs }),
        since: state?.since ?? 0,
      };
    }),
    uptime: new Map(uptimes.map(({ recording, buckets }) => [recording.id, buckets])),
    episodes: [...firing, ...ended].map(toStoredEpisode),
    matchers: [],
    unreachable: [],
  });
  const frame = { name: texts[0] ?? "", externalUrl: "https://lenswatch.example.com" };
  return forReader(await renderDigest(digest, frame), "https://lenswatch.example.com/unsubscribe/x");
}

export function served(fleet: HostileFleet) {
  const episodes = [...fleet.firing, ...fleet.ended].map(toStoredEpisode);
  return serve({
    adminToken: "boss",
    silences: async () =>
      fleet.texts.map((text, i) =>
        aSilence({
          id: `00000000-0000-4000-8000-${String(i).padStart(12, "0")}`,
          matchers: [createMatcher("location", i % 2 === 0 ? "=" : "!=", text)],
          startsAt: NOW - 3_600_000,
          endsAt: NOW + 3_600_000,
          updatedAt: NOW,
          createdBy: text,
          comment: text,
        }),
      ),
    fleet: async () => fleet.snapshot,
    alerts: async () =>
      fleet.firing.map((alert, i) => ({
        alert,
        receivers: ["ops", fleet.texts[i % fleet.texts.length] ?? ""],
        ...(i % 3 === 0 ? { mutedBy: [fleet.texts[i % fleet.texts.length] ?? ""] } : {}),
        ...(i % 4 === 0
          ? {
              acknowledgement: {
                author: fleet.texts[i % fleet.texts.length] ?? "",
                comment: fleet.texts[(i + 1) % fleet.texts.length] ?? "",
                at: NOW,
              },
            }
          : {}),
      })),
    episodes: async () => episodes,
    timeline: async () => fleet.lines.slice(0, 300),
    zones: async (ids) => new Map(ids.map((id) => [id, new Map(idsOf(fleet).map((one) => [one, fleet.texts]))])),
  });
}

export const idsOf = ({ snapshot }: HostileFleet) => [...(snapshot.shards[0]?.recordings.keys() ?? [])];

export interface Document {
  readonly name: string;
  readonly html: string;
}

const PATHS = ["/", "/episodes", "/?show=locations", "/?show=silences", "/?q=e", "/silences/new", "/session"];

/** Every page there is, of some of its recordings and alerts, to who only looks and to who has signed in. */
async function pagesOf(fleet: HostileFleet): Promise<Document[]> {
  const { address } = await served(fleet);
  const some = <T>(all: readonly T[], every: number) => all.filter((_one, i) => i % every === 0);
  const escaped = (text: string, most: number) => encodeURIComponent(text.slice(0, most).toWellFormed());
  const paths = [
    ...PATHS,
    ...some(idsOf(fleet), 20).map((id) => `/recordings/${escaped(id, 256)}`),
    ...some(fleet.firing, 20).map(({ labels }) => `/alerts/${fingerprint(labels)}`),
    ...some(fleet.texts, 12).flatMap((text) => [
      `/?q=${escaped(text, 250)}`,
      `/?location=${escaped(text, 250)}`,
      `/silences/new?matchers=${encodeURIComponent(`location=${JSON.stringify(text.slice(0, 100).toWellFormed())}`)}`,
      `/session?to=${escaped(text, 250)}`,
    ]),
  ];
  const visitors = [visit(address), await signedIn(address, "boss", fleet.texts[3])];
  const pages: Document[] = [];
  for (const visitor of visitors)
    for (const path of paths) pages.push({ name: path, html: (await visitor.get(path)).html });
  return pages;
}

/** Every document for people. */
export async function documentsOf(fleet: HostileFleet): Promise<Document[]> {
  const mails = [...notificationsOf(fleet)].map((notification, i) => ({
    name: `mail ${i}`,
    html: renderEmail(notification, addresses).html ?? "",
  }));
  return [...mails, { name: "digest", html: (await digestOf(fleet)).html }, ...(await pagesOf(fleet))];
}
