/**
 * Many replicas, one opinion: each reports every second that it is there and which configuration it was given, and
 * learns which one is in force. Per duty that is the one loaded last by a replica still there, so that a rolling
 * update never judges a rule in two ways, and replicas of the old one take over again where the new ones vanish.
 */
import { randomUUID } from "node:crypto";
import type { Clock } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import type { ReplicaStore } from "../store/replicas.ts";

/** `poll`: sweeps and what keeps them going; `notify`: deliveries and digests. */
export const duties = ["poll", "notify"] as const;
export type Duty = (typeof duties)[number];

/** What a replica is started for; every role serves HTTP. */
export const roles = ["all", "poll", "notify", "web"] as const;
export type Role = (typeof roles)[number];

const REPORT_MS = 1_000;
/** A replica silent for this long is gone: what was loaded last by one still there is in force. */
const GONE_AFTER_MS = 30_000;
/** Whoever exposes the fleet and is not heard of any more is followed by another after this. */
const LEASE_MS = 3_000;
/** A judgement resting on an older report asks again first. */
const FRESH_MS = 5_000;

export interface RollDeps {
  readonly store: ReplicaStore;
  readonly clock: Clock;
  readonly log: Logger;
  readonly role: Role;
}

export interface Roll {
  readonly role: Role;
  /** A configuration was loaded here: it is in force from now on, here and elsewhere. */
  announce(hash: string): Promise<void>;
  /** What this replica does now: its role's duties, as far as its configuration is in force for them. */
  active(): ReadonlySet<Duty>;
  /** Its role's duties that another replica's later configuration keeps from it. */
  resting(): readonly Duty[];
  /** Whether the configuration is still in force for the duty; asks again where the last answer is old. */
  holds(duty: Duty): Promise<boolean>;
  /** Whether this replica is the one that exposes the fleet. */
  exposes(): boolean;
  /** Calls `act` whenever what this replica does has changed, until the returned function is called. */
  follow(act: () => void): () => void;
  /** Says good-bye, so that others need not wait. */
  leave(): Promise<void>;
}

export function dutiesOf(role: Role): readonly Duty[] {
  return role === "all" ? duties : duties.filter((duty) => duty === role);
}

export function createRoll({ store, clock, log, role }: RollDeps): Roll {
  const replica = randomUUID();
  const own = dutiesOf(role);
  let hash: string | undefined;
  let generation: number | undefined;
  let active: ReadonlySet<Duty> = new Set();
  /** As it was when somebody last acted on it. */
  let known = active;
  let exposes = false;
  let reportedAt = Number.NEGATIVE_INFINITY;
  let left = false;

  const age = () => performance.now() - reportedAt;
  const resting = () => (generation === undefined ? [] : own.filter((duty) => !active.has(duty)));

  async function report(): Promise<void> {
    if (hash === undefined || left) return;
    const asked = performance.now();
    const given = { hash, generation };
    const mayExpose = resting().length === 0;
    const times = { leaseMs: LEASE_MS, goneAfterMs: GONE_AFTER_MS };
    const answer = await store.report({ replica, duties: own, mayExpose, ...given, ...times }, clock.now());
    // Loaded anew meanwhile: this answer is about the configuration before.
    if (hash !== given.hash || generation !== given.generation) return;
    generation = answer.generation;
    exposes = answer.exposes;
    reportedAt = asked;
    active = new Set(own.filter((duty) => answer.inForce.get(duty) === hash));
  }

  return {
    role,

    async announce(next) {
      hash = next;
      generation = undefined;
      await report();
      known = active;
    },

    active: () => active,
    resting,

    async holds(duty) {
      if (age() > FRESH_MS) await report();
      return active.has(duty);
    },

    exposes: () => exposes && age() < LEASE_MS,

    follow(act) {
      let busy = false;
      const timer = setInterval(() => {
        if (busy) return;
        busy = true;
        report()
          .then(() => {
            if (isSame(known, active)) return;
            const facts = { active: [...active], resting: resting() };
            if (resting().length > 0)
              log.warn(facts, "a later configuration is in force elsewhere: this replica takes no new work");
            else log.info(facts, "this replica's configuration is in force");
            known = active;
            act();
          })
          .catch((thrown: unknown) => log.debug({ err: toError(thrown) }, "not reported; tried again"))
          .finally(() => {
            busy = false;
          });
      }, REPORT_MS);
      return () => clearInterval(timer);
    },

    async leave() {
      left = true;
      exposes = false;
      await store.leave(replica);
    },
  };
}

function isSame(a: ReadonlySet<Duty>, b: ReadonlySet<Duty>): boolean {
  return a.size === b.size && a.isSubsetOf(b);
}
