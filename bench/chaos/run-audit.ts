/** A run so far, put before the audit: what truly happened, what was done to the daemon, and what it said. */

import { type Audit, audit } from "./audit.ts";
import { RULE } from "./config-text.ts";
import { askLog } from "./decision-log.ts";
import type { Stage } from "./environment.ts";
import type { Diary } from "./execute.ts";
import type { Telling } from "./messages.ts";
import { FLAPPING } from "./plan-flapping.ts";
import type { Replicas } from "./replicas.ts";
import { type Logged, type Message, spellOut } from "./summaries.ts";
import { darkTimes } from "./timeline.ts";

export interface Judged {
  readonly audit: Audit;
  readonly tellings: readonly Telling[];
  readonly messages: number;
  readonly summaries: number;
}

const ASKED_AT_ONCE = 8;

/** Gives `judge()`; with `withLog`, the daemon is asked whom its summaries stood for. */
export function createJudge(stage: Stage, replicas: Replicas, diary: Diary) {
  const began = Date.now();
  let logged = new Map<string, Logged[]>();

  async function askLogs(messages: readonly Message[]): Promise<void> {
    const places = new Set(messages.flatMap(({ read }) => read.counted.map(({ place }) => place)));
    const isCut = messages.some(({ read }) => read.cut.length > 0);
    const went = new Set(stage.simulator.world.ledger.map(({ recordingId }) => recordingId));
    const left = stage.watched.filter(({ place, id }) => went.has(id) && (isCut || places.has(place)));
    const [url] = replicas.urls();
    if (url === undefined) return;
    const found = new Map<string, Logged[]>();
    const ask = async () => {
      for (let next = left.pop(); next; next = left.pop())
        found.set(next.id, await askLog(url, next.id, began));
    };
    await Promise.all(Array.from({ length: ASKED_AT_ONCE }, ask));
    logged = found;
  }

  return async ({ withLog }: { readonly withLog: boolean }): Promise<Judged> => {
    const messages = stage.told();
    if (withLog) await askLogs(messages);
    const end = Date.now();
    const ledger = stage.simulator.world.ledger.filter(({ change }) => change === "status");
    const dark = darkTimes(ledger, end);
    const changes = Map.groupBy(ledger, ({ recordingId }) => recordingId);
    const meant = stage.watched.map(({ id, name, place, integrations }) => ({
      name,
      place,
      integrations,
      dark: dark.get(id) ?? [],
      changes: changes.get(id)?.length ?? 0,
      logged: logged.get(id) ?? [],
    }));
    const { tellings, unreadable, summaries } = spellOut(messages, meant, RULE);
    const kills = replicas.ended.filter(({ how }) => how === "kill").map(({ at }) => at);
    const found = audit({
      ...diary,
      recordings: stage.watched,
      ledger,
      tellings,
      unreadable: [
        ...unreadable,
        ...stage.toldToForget().map((to) => `${to}: told again to start without memory`),
      ],
      answers: stage.answers,
      judged: stage.judged(),
      crashes: [...diary.crashes, ...kills].sort((a, b) => a - b),
      blind: [...diary.blind, ...diary.redisDown],
      rule: RULE,
      flapping: FLAPPING,
      end,
    });
    return { audit: found, tellings, messages: messages.length, summaries };
  };
}

export type Judge = ReturnType<typeof createJudge>;
