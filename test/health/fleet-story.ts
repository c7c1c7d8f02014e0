import type { Attempt } from "../../src/health/attempt.ts";
import { evaluateSelf, type SelfAlertState, type SelfEvidence } from "../../src/health/evaluate-self.ts";
import type { Rule } from "../../src/health/model.ts";
import { deepFreeze, INTERVAL, MINUTE, START } from "./shard-history.ts";

/** Ticks of the fleet's judge: each says how asking went just now. */
export class FleetStory {
  now = START;
  state: SelfAlertState = {};
  last: Omit<ReturnType<typeof evaluateSelf>, "service"> = {
    next: {},
    groupsRead: undefined,
    transitions: [],
    decisions: [],
  };
  rules: readonly Rule[];

  constructor(...rules: Rule[]) {
    this.rules = rules;
  }

  good = (): Attempt => ({ goodAt: this.now, attemptedAt: this.now });
  bad = (goodAt = START - 60 * MINUTE): Attempt => ({
    goodAt,
    attemptedAt: this.now,
    error: "The service did not answer.",
  });
  bad0 = (): Attempt => this.bad();
  never = (): Attempt => ({ goodAt: 0, attemptedAt: 0 });

  requestTimeoutMs = 0;
  countsIntervalMs: number | undefined = 10 * MINUTE;
  startedAt = 0;

  tick(evidence: () => Partial<SelfEvidence>, afterMs = INTERVAL): string[] {
    this.now += afterMs;
    const all: SelfEvidence = { shards: [], inventory: this.never(), uptimes: [], integrations: [], ...evidence() };
    this.last = evaluateSelf(deepFreeze(this.state), deepFreeze(all), {
      now: this.now,
      rules: this.rules,
      intervalMs: INTERVAL,
      uptimeIntervalMs: 10 * MINUTE,
      countsIntervalMs: this.countsIntervalMs,
      inventoryIntervalMs: 60 * MINUTE,
      requestTimeoutMs: this.requestTimeoutMs,
      startedAt: this.startedAt,
    });
    this.state = JSON.parse(JSON.stringify(this.last.next)) as SelfAlertState;
    return this.last.transitions.map(({ kind, alert }) =>
      kind === "resolved" ? `${kind} ${alert.key} ${alert.endReason}` : `${kind} ${alert.key}`,
    );
  }

  get alert() {
    const alert = this.last.transitions[0]?.alert;
    if (!alert) throw new Error("the last tick moved no alert");
    return alert;
  }
}
