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
export const roles = ["poll", "notify"] as const;
export type Role = (typeof roles)[number];

/** What a replica is started for; every role serves HTTP. */
export const roleOptions = ["all", "poll", "notify", "web"] as const;
export type RoleOption = (typeof roleOptions)[number];

const REPORT_MS = 1_000;
/** A replica silent for this long is gone: what was loaded last by one still there is in force. */
const SILENT_AFTER_MS = 30_000;
/** Whoever exposes the fleet and is not heard of any more is followed by another after this. */
const LEASE_MS = 3_000;
/** A judgement resting on an older report asks again first. */
const FRESH_MS = 5_000;

export interface ReplicasDeps {
  readonly store: ReplicaStore;
  readonly clock: Clock;
  readonly log: Logger;
  readonly roleOption: RoleOption;
}

export interface Replicas {
  readonly roleOption: RoleOption;
  /** A configuration was loaded here: it is in force from now on, here and elsewhere. */
  announce(hash: string): Promise<void>;
  /** What this replica does now: its role's duties, as far as its configuration is in force for them. */
  active(): ReadonlySet<Role>;
  /** Its role's duties that another replica's later configuration keeps from it. */
  standby(): readonly Role[];
  /** Whether the configuration is still in force for the duty; asks again where the last answer is old. */
  isActive(role: Role): Promise<boolean>;
  /** Whether this replica is the one that exposes the fleet. */
  exposes(): boolean;
  /** Calls `act` whenever what this replica does has changed, until the returned function is called. */
  follow(act: () => void): () => void;
  /** Says good-bye, so that others need not wait. */
  leave(): Promise<void>;
}

export function rolesOf(roleOption: RoleOption): readonly Role[] {
  return roleOption === "all" ? roles : roles.filter((role) => role === roleOption);
}

export function createReplicas({ store, clock, log, roleOption }: ReplicasDeps): Replicas {
  const replica = randomUUID();
  const own = rolesOf(roleOption);
  let hash: string | undefined;
  let generation: number | undefined;
  let active: ReadonlySet<Role> = new Set();
  /** As it was when somebody last acted on it. */
  let known = active;
  let exposes = false;
  let reportedAt = Number.NEGATIVE_INFINITY;
  let left = false;

  const age = () => performance.now() - reportedAt;
  const standby = () => (generation === undefined ? [] : own.filter((role) => !active.has(role)));

  async function report(): Promise<void> {
    if (hash === undefined || left) return;
    const asked = performance.now();
    const given = { hash, generation };
    const mayExpose = standby().length === 0;
    const times = { leaseMs: LEASE_MS, silentAfterMs: SILENT_AFTER_MS };
    const answer = await store.report({ replica, roles: own, mayExpose, ...given, ...times }, clock.now());
    // Loaded anew meanwhile: this answer is about the configuration before.
    if (hash !== given.hash || generation !== given.generation) return;
    generation = answer.generation;
    exposes = answer.exposes;
    reportedAt = asked;
    active = new Set(own.filter((role) => answer.active.get(role) === hash));
  }

  return {
    roleOption,

    async announce(next) {
      hash = next;
      generation = undefined;
      await report();
      known = active;
    },

    active: () => active,
    standby,

    async isActive(role) {
      if (age() > FRESH_MS) await report();
      return active.has(role);
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
            const facts = { active: [...active], standby: standby() };
            if (standby().length > 0)
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

function isSame(a: ReadonlySet<Role>, b: ReadonlySet<Role>): boolean {
  return a.size === b.size && a.isSubsetOf(b);
}
