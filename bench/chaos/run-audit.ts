/** Collects the ledger, the faults and the messages of a run, and audits them. */

import { noticesOfApp } from "./app-posts.ts";
import { type Audit, audit } from "./audit.ts";
import { ESCALATE_MS, RULE } from "./config-text.ts";
import { readDecisionLog } from "./decision-log.ts";
import type { Environment } from "./environment.ts";
import type { RunLog } from "./execute.ts";
import type { Notice } from "./messages.ts";
import { FLAPPING } from "./plan-flapping.ts";
import type { Replicas } from "./replicas.ts";
import { expandSummaries, type Logged, type Message } from "./summaries.ts";
import { withdrawnTogether } from "./suppressions.ts";
import { outagesOf } from "./timeline.ts";

export interface RunAudit {
  readonly audit: Audit;
  readonly notices: readonly Notice[];
  readonly messages: number;
  /** Of the Slack app. */
  readonly posts: number;
  readonly summaries: number;
}

const ASKED_AT_ONCE = 8;

/** Gives a function that audits the run so far; `withLog` asks the daemon which recordings its summaries covered. */
export function createAuditor(environment: Environment, replicas: Replicas, runLog: RunLog) {
  const began = Date.now();
  let logged = new Map<string, Logged[]>();

  async function readDecisionLogs(messages: readonly Message[]): Promise<void> {
    const locationNames = new Set(messages.flatMap(({ read }) => read.counted.map(({ locationName }) => locationName)));
    const isCut = messages.some(({ read }) => read.cut.length > 0);
    const went = new Set(environment.simulator.world.ledger.map(({ recordingId }) => recordingId));
    const left = environment.watched.filter(
      ({ locationName, id }) => went.has(id) && (isCut || locationNames.has(locationName)),
    );
    const [url] = replicas.urls();
    if (url === undefined) return;
    const found = new Map<string, Logged[]>();
    const ask = async () => {
      for (let next = left.pop(); next; next = left.pop())
        found.set(next.id, await readDecisionLog(url, next.id, began));
    };
    await Promise.all(Array.from({ length: ASKED_AT_ONCE }, ask));
    logged = found;
  }

  return async ({ withLog }: { readonly withLog: boolean }): Promise<RunAudit> => {
    const messages = environment.messages();
    if (withLog) await readDecisionLogs(messages);
    const end = Date.now();
    const ledger = environment.simulator.world.ledger.filter(({ change }) => change === "status");
    const offline = outagesOf(ledger, end);
    const changes = Map.groupBy(ledger, ({ recordingId }) => recordingId);
    const meant = environment.watched.map(({ id, name, locationName, integrations }) => ({
      name,
      locationName,
      integrations,
      offline: offline.get(id) ?? [],
      changes: changes.get(id)?.length ?? 0,
      logged: logged.get(id) ?? [],
    }));
    const { notices, unreadable, summaries } = expandSummaries(messages, meant, RULE);
    const app = { posts: environment.app.posts(), roots: environment.app.roots(), episodes: environment.episodes() };
    const ofApp = noticesOfApp(app);
    const kills = replicas.ended.filter(({ how }) => how === "kill").map(({ at }) => at);
    const found = audit({
      ...runLog,
      suppressions: withdrawnTogether(runLog.suppressions),
      recordings: environment.watched,
      ledger,
      notices: [...notices, ...ofApp.notices].sort((a, b) => a.at - b.at),
      app,
      groups: { servers: environment.servers, lines: environment.incidents.groups },
      incidents: { ...environment.incidents, afterMs: ESCALATE_MS },
      unreadable: [
        ...unreadable,
        ...ofApp.unreadable,
        ...environment.repeatedColdStarts().map((to) => `${to}: repeated summary of a cold start`),
      ],
      answers: environment.answers,
      judged: environment.judged(),
      crashes: [...runLog.crashes, ...kills].sort((a, b) => a - b),
      unreachable: [...runLog.unreachable, ...runLog.redisDown],
      rule: RULE,
      flapping: FLAPPING,
      end,
    });
    return { audit: found, notices, messages: messages.length, posts: app.posts.length, summaries };
  };
}

export type Auditor = ReturnType<typeof createAuditor>;
