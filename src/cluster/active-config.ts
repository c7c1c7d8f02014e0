/**
 * The replicas agree on one configuration: each reports itself every second with the one it was given, and learns which
 * is active. Per role that is the one loaded last by a replica still there, so that a rolling update never evaluates a
 * rule in two ways, and replicas with the old one take over again when the new ones disappear.
 */
import { randomUUID } from "node:crypto";
import type { Clock } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import { oneAtATime } from "../lib/one-at-a-time.ts";
import type { Store } from "../store/store.ts";
import type { Check } from "../store/transact.ts";
import { ranksOf } from "./slots.ts";

/** `poll`: sweeps and what keeps them going; `notify`: deliveries and digests. */
export const roles = ["poll", "notify"] as const;
export type Role = (typeof roles)[number];

/** The roles a replica is started with; each of these serves HTTP. */
export const roleOptions = ["all", "poll", "notify", "web"] as const;
export type RoleOption = (typeof roleOptions)[number];

const REPORT_MS = 1_000;
const SILENT_AFTER_MS = 30_000;
/** Another replica exposes the fleet when the one that did is silent for this long. */
const LEASE_MS = 3_000;
/** The others sweep the shards of one that is silent for this long. */
const AWAY_AFTER_MS = 3_000;

interface ReplicasDeps {
  readonly store: Store["replicas"];
  readonly clock: Clock;
  readonly log: Logger;
  readonly roleOption: RoleOption;
}

export function rolesOf(roleOption: RoleOption): readonly Role[] {
  return roleOption === "all" ? roles : roles.filter((role) => role === roleOption);
}

/** A replica among the others. */
export class Replicas {
  readonly roleOption: RoleOption;
  readonly #deps: ReplicasDeps;
  readonly #replica = randomUUID();
  readonly #own: readonly Role[];
  #hash: string | undefined;
  #generation: number | undefined;
  #active: ReadonlySet<Role> = new Set();
  /** The active roles that the last call of `act` was about. */
  #acted = this.#active;
  #exposes = false;
  #sweeps = false;
  #sharing: readonly string[] = [];
  #reportedAt = Number.NEGATIVE_INFINITY;
  #hasLeft = false;

  constructor(deps: ReplicasDeps) {
    this.#deps = deps;
    this.roleOption = deps.roleOption;
    this.#own = rolesOf(deps.roleOption);
  }

  /** Reports that a configuration was loaded here: it is the active one from now on. */
  async announce(hash: string): Promise<void> {
    this.#hash = hash;
    this.#generation = undefined;
    await this.#report();
    this.#acted = this.#active;
    if (this.standby().length > 0) this.#logActive();
  }

  /** The roles for which the configuration of this replica is active. */
  active(): ReadonlySet<Role> {
    return this.#active;
  }

  /** The roles for which a configuration that was loaded later by another replica is active. */
  standby(): readonly Role[] {
    return this.#generation === undefined ? [] : this.#own.filter((role) => !this.#active.has(role));
  }

  /** The check by which a transaction holds only while the configuration that was announced here is active. */
  checkActive(role: Role): Check {
    return this.#deps.store.checkActive(role, this.#hash ?? "");
  }

  /** True for the one replica that exposes the fleet. */
  exposes(): boolean {
    return this.#exposes && this.#ageMs() < LEASE_MS;
  }

  /** Takes a share of the shards from now on, or leaves it to the others, who learn of it within a second. */
  async share(sweeps: boolean): Promise<void> {
    this.#sweeps = sweeps;
    await this.#report();
  }

  /** The rank of this replica in each slot: 0 where the slot is its own; empty while it takes no share. */
  ranks(slots: readonly number[]): ReadonlyMap<number, number> {
    return this.#sweeps ? ranksOf(this.#replica, slots, this.#sharing) : new Map();
  }

  /** Reports every second and calls `act` whenever the active roles changed, until the returned function is called. */
  follow(act: () => void): () => void {
    const follow = oneAtATime(async () => {
      try {
        await this.#report();
        this.#actOnChange(act);
      } catch (thrown) {
        this.#deps.log.debug({ err: toError(thrown) }, "reporting the replica failed, retrying");
      }
    });
    const timer = setInterval(follow, REPORT_MS);
    return () => clearInterval(timer);
  }

  /** Removes this replica, so that the others need not wait until it counts as silent. */
  async leave(): Promise<void> {
    this.#hasLeft = true;
    this.#exposes = false;
    await this.#deps.store.leave(this.#replica);
  }

  #ageMs(): number {
    return performance.now() - this.#reportedAt;
  }

  #actOnChange(act: () => void): void {
    const active = this.#active;
    if (this.#acted.size === active.size && this.#acted.isSubsetOf(active)) return;
    this.#logActive();
    this.#acted = active;
    act();
  }

  #logActive(): void {
    const { log } = this.#deps;
    const standby = this.standby();
    const facts = { active: [...this.#active], standby };
    if (standby.length === 0) log.info(facts, "the configuration of this replica is active");
    else log.warn(facts, "another replica has a later configuration, this one takes no new work");
  }

  async #report(): Promise<void> {
    const { store, clock } = this.#deps;
    const [hash, generation] = [this.#hash, this.#generation];
    if (hash === undefined || this.#hasLeft) return;
    const askedAt = performance.now();
    const report = {
      replica: this.#replica,
      roles: this.#own,
      hash,
      generation,
      mayExpose: this.standby().length === 0,
      leaseMs: LEASE_MS,
      sweeps: this.#sweeps,
      awayAfterMs: AWAY_AFTER_MS,
      silentAfterMs: SILENT_AFTER_MS,
    };
    const status = await store.report(report, clock.now());
    // Another configuration was loaded meanwhile: this status is about the one before.
    if (hash !== this.#hash || generation !== this.#generation) return;
    this.#generation = status.generation;
    this.#exposes = status.exposes;
    this.#sharing = status.sharing;
    this.#reportedAt = askedAt;
    this.#active = new Set(this.#own.filter((role) => status.active.get(role) === hash));
  }
}
