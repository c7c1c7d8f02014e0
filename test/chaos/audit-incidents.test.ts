import { describe, expect, it } from "vitest";
import type { AppLog, Episode } from "../../bench/chaos/app-posts.ts";
import {
  auditEscalations,
  auditIncidents,
  type Escalated,
  type IncidentEvent,
} from "../../bench/chaos/audit-incidents.ts";
import type { KnownSuppression } from "../../bench/chaos/suppressions.ts";
import { traceOf } from "../../src/alerting/conversation.ts";

const START = Date.UTC(2026, 10, 20, 14, 5);
const second = (n: number) => START + 1_000 * n;

function facts(endsAt: number | undefined, suppressions: readonly KnownSuppression[] = []) {
  const episode: Episode = {
    id: "offline/till@1",
    recordingId: "c1",
    recording: "Leeds Till 3",
    locationId: "l1",
    location: "Leeds",
    isFlapping: false,
    startsAt: START,
    endsAt: endsAt === undefined ? undefined : second(endsAt),
  };
  const post = {
    at: second(3),
    integration: "app/0",
    conversation: "a1",
    traces: [traceOf("+", episode.id)],
    text: "",
  };
  const app: AppLog = { posts: [{ ...post, number: 1 }], roots: [], episodes: new Map([[episode.id, episode]]) };
  return {
    app,
    suppressions,
    offline: new Map([["c1", [{ from: START, to: endsAt === undefined ? second(300) : second(endsAt) }]]]),
    end: second(300),
  };
}

type Event = readonly [at: number, action: IncidentEvent["action"], key?: string, timestamp?: string];
const incidents = (all: readonly Event[], endsAt?: number) =>
  auditIncidents(
    {
      events: all.map(([at, action, key = "k1", timestamp = "14:05"]) => {
        const trigger = { summary: "Till 3 offline", source: "Leeds", timestamp };
        return { at: second(at), integration: "pagerduty/0", action, key, ...(action === "trigger" ? trigger : {}) };
      }),
      escalated: [],
      afterMs: 6_000,
    },
    facts(endsAt),
  ).map(({ kind }) => kind);

type Line = readonly [at: number, status: Escalated["status"]];
const escalations = (lines: readonly Line[], endsAt: number, acknowledged?: readonly [from: number, to: number]) => {
  const [from, to] = acknowledged ?? [0, 0];
  const ack: KnownSuppression = {
    kind: "ack",
    recordingIds: ["c1"],
    maybeFrom: second(from),
    surelyFrom: second(from),
    surelyUntil: second(to),
    maybeUntil: second(to),
  };
  const common = { integration: "phone/0", rule: "RecordingOffline", recordingId: "c1", startsAt: START };
  const escalated = lines.map(([at, status], message) => ({ ...common, at: second(at), status, message }));
  const found = auditEscalations({ events: [], escalated, afterMs: 6_000 }, facts(endsAt, acknowledged ? [ack] : []));
  return found.map(({ kind }) => kind);
};

describe("the audit of incidents", () => {
  it.each<[string, string[], readonly Event[], number | undefined]>([
    [
      "accepts an incident that was resolved",
      [],
      [
        [3, "trigger"],
        [9, "trigger"],
        [33, "resolve"],
      ],
      30,
    ],
    ["accepts one of what still fires", [], [[3, "trigger"]], undefined],
    [
      "sees one never resolved",
      ["unresolved"],
      [
        [3, "trigger"],
        [20, "acknowledge"],
      ],
      30,
    ],
    [
      "accepts one of its own for what is new there",
      [],
      [
        [3, "trigger"],
        [9, "trigger", "k2", "14:06"],
        [33, "resolve"],
        [33, "resolve", "k2"],
      ],
      30,
    ],
    [
      "sees two of one outage",
      ["doubled"],
      [
        [3, "trigger"],
        [9, "trigger", "k2"],
        [33, "resolve"],
        [33, "resolve", "k2"],
      ],
      30,
    ],
  ])("%s", (_, kinds, events, endsAt) => {
    expect(incidents(events, endsAt)).toEqual(kinds);
  });

  it.each<[string, string[], readonly Line[], number, (readonly [number, number])?]>([
    [
      "accepts one escalated and ended",
      [],
      [
        [9, "firing"],
        [93, "resolved"],
      ],
      90,
    ],
    ["accepts one over too soon", [], [], 20],
    ["accepts one acknowledged for a while", [], [], 90, [5, 30]],
    ["accepts one told late, as over", [], [[40, "resolved"]], 30],
    ["sees one missing", ["lost"], [], 90],
    ["sees one without its end", ["unresolved"], [[9, "firing"]], 90],
    [
      "sees its end twice",
      ["doubled"],
      [
        [9, "firing"],
        [93, "resolved"],
        [99, "resolved"],
      ],
      90,
    ],
    [
      "sees one while acknowledged",
      ["false"],
      [
        [40, "firing"],
        [93, "resolved"],
      ],
      90,
      [5, 60],
    ],
    ["sees one before its step", ["false"], [[9, "resolved"]], 4],
  ])("%s", (_, kinds, lines, endsAt, acknowledged) => {
    expect(escalations(lines, endsAt, acknowledged)).toEqual(kinds);
  });
});
