/** The setup at work and its replacement; timers and the notification log are in Redis, so nothing is sent again. */
import { type Role, rolesOf } from "../cluster/active-config.ts";
import { type Config, configHash } from "../config/config.ts";
import { withDeadline } from "../lib/closer.ts";
import { toError } from "../lib/errors.ts";
import { inSequence } from "../lib/one-at-a-time.ts";
import type { Engine } from "./engine.ts";
import { identify } from "./identities.ts";
import { createRetirements, DRAIN_MS, type Retirements } from "./retirements.ts";
import type { Runtime } from "./runtime.ts";
import { buildSetup, closeSetup, isSame, type Setup, withEngine } from "./setup.ts";
import { SlackSockets } from "./slack-sockets.ts";

/** The next engine waits this long for the last one's jobs, then starts beside them. */
const HANDOVER_MS = 2_000;
const START_RETRY_MS = 500;
const START_RETRY_MAX_MS = 30_000;

export class Reloader {
  readonly #runtime: Runtime;
  readonly #stopping = new AbortController();
  readonly #retirements: Retirements;
  readonly #unclosed = new Set<() => Promise<unknown>>();
  readonly #build: typeof buildSetup;
  /** The one at work, and those that still drain. */
  readonly #engines: Set<Engine>;
  #current: Setup;
  #roles: ReadonlySet<Role> = new Set();
  readonly #inSequence = inSequence();
  /** The Slack sockets of the setup in force, where this replica notifies. */
  readonly slack: SlackSockets;

  /** A model builds setups without a network. */
  constructor(runtime: Runtime, config: Config, build = buildSetup) {
    this.#runtime = runtime;
    this.#build = build;
    this.slack = new SlackSockets(runtime);
    this.#current = build(runtime, config);
    this.#engines = new Set([this.#current.engine]);
    this.#retirements = createRetirements(runtime, this.#stopping.signal, (id) => this.#current.senders.byId.has(id));
  }

  current(): Setup {
    return this.#current;
  }

  /** Starts the work; tries until it works, unless stopped. */
  begin(): Promise<void> {
    return this.#inSequence(async () => {
      const before = this.#current;
      await this.#untilDone(() => this.#runtime.directory.follow(before.config.directory));
      const built = this.#build(this.#runtime, before.config, before);
      const setup = await this.#identified(built);
      await closeSetup(setup ? before : built, setup ?? before);
      if (!setup) return;
      this.#runtime.metrics.knowIntegrations(setup.senders.list);
      this.#engines.delete(before.engine);
      this.#engines.add(setup.engine);
      this.#current = setup;
      await this.#start(setup, true);
    });
  }

  /**
   * Puts a configuration in force: the last engine drains, the next one starts, integrations that left send the ends
   * they owe. One change at a time. Throws, with everything as it was, where it cannot be built.
   */
  change(config: Config): Promise<void> {
    return this.#inSequence(() => this.#change(config));
  }

  /** Follows the membership: takes new work for the roles whose active configuration is this one, and for no other. */
  assign(): Promise<void> {
    return this.#inSequence(() => this.#assign());
  }

  /** Ends the work; bounded by the queues' own deadline. */
  stop(): void {
    this.#stopping.abort();
    void this.slack.close();
    for (const engine of this.#engines) engine.stop();
  }

  /** Closes what the setups opened. */
  async close(): Promise<void> {
    await Promise.all([this.slack.close(), ...[...this.#unclosed].map((close) => close())]);
    await closeSetup(this.#current);
  }

  /** `isLoaded`: the configuration has been loaded just now, and becomes the active one. */
  async #start(setup: Setup, isLoaded: boolean): Promise<void> {
    const { replicas, directory } = this.#runtime;
    let isAnnounced = !isLoaded;
    await this.#untilDone(async () => {
      await setup.engine.prepare();
      const ids = setup.senders.list.map(({ id }) => id);
      if (!isAnnounced) await replicas.announce(configHash(setup.config, [...ids, directory.addresses()]));
      isAnnounced = true;
      this.#roles = replicas.active();
      await setup.engine.start({ roles: this.#roles, retiring: this.#retirements.ids() });
      this.slack.follow(setup, this.#roles.has("notify"));
    });
  }

  /** With a new engine and the ids that are stored; undefined where stopped meanwhile. */
  #identified(setup: Setup): Promise<Setup | undefined> {
    const { store, replicas } = this.#runtime;
    const mayStore = rolesOf(replicas.roleOption).length > 0;
    return this.#untilDone(async () => {
      return withEngine(this.#runtime, await identify(store.identities, setup, mayStore));
    });
  }

  /** The result of `work`, tried until it works; undefined where stopped meanwhile. */
  async #untilDone<T>(work: () => Promise<T>): Promise<T | undefined> {
    for (let attempt = 1; !this.#stopping.signal.aborted; attempt++) {
      try {
        return await work();
      } catch (thrown) {
        if (this.#stopping.signal.aborted) return undefined;
        this.#runtime.log.error({ err: toError(thrown), attempt }, "start failed, retrying");
        const retryMs = Math.min(START_RETRY_MAX_MS, START_RETRY_MS * attempt);
        await new Promise((resolve) => setTimeout(resolve, retryMs).unref());
      }
    }
    return undefined;
  }

  async #change(config: Config): Promise<void> {
    const { metrics, replicas } = this.#runtime;
    const before = this.#current;
    const built = this.#build(this.#runtime, config, before);
    const after = await this.#identified(built);
    if (!after) return closeSetup(built, before);
    const { list, byId } = after.senders;
    metrics.knowIntegrations(list);
    // What an integration that is back was owed is sent to it now; what others are owed is counted at the start.
    for (const { id, receiver, type } of list) {
      if (!before.senders.byId.has(id)) metrics.resolvedOwed(receiver, type, 0);
    }
    await this.#retirements.cancel([...byId.keys()]);
    const notifies = rolesOf(replicas.roleOption).includes("notify");
    const removed = notifies ? [...before.senders.byId.keys()].filter((id) => !byId.has(id)) : [];
    this.#retirements.add(removed);
    const { drained } = await this.#replace(after);
    await this.#start(after, true);
    void this.#drain(before, after, drained, removed);
  }

  async #assign(): Promise<void> {
    const active = this.#runtime.replicas.active();
    if (isSame([...this.#roles], [...active])) return;
    const before = this.#current;
    // The ids are those of the active configuration.
    const after = active.size > 0 ? await this.#identified(before) : withEngine(this.#runtime, before);
    if (!after) return;
    const { drained } = await this.#replace(after);
    void drained.then(() => this.#engines.delete(before.engine));
    await this.#start(after, false);
  }

  /** From here on the last setup takes no new work; `drained` resolves when it has ended what it had. */
  async #replace(after: Setup): Promise<{ readonly drained: Promise<void> }> {
    const { engine } = this.#current;
    this.#current = after;
    this.#engines.add(after.engine);
    const drained = engine.drain().catch((thrown: unknown) => {
      this.#runtime.log.debug({ err: toError(thrown) }, "draining failed");
    });
    await withDeadline(drained, HANDOVER_MS).catch(() => {});
    return { drained };
  }

  /** Messages under way end, integrations that left send the ends they owe, then `before` is closed. */
  async #drain(before: Setup, after: Setup, drained: Promise<void>, removed: readonly string[]): Promise<void> {
    const close = async () => {
      this.#unclosed.delete(close);
      await closeSetup(before, after);
    };
    this.#unclosed.add(close);
    await withDeadline(drained, DRAIN_MS).catch(() => {});
    this.#engines.delete(before.engine);
    await this.#retirements.run(before, removed);
    await close().catch((thrown: unknown) => {
      this.#runtime.log.debug({ err: toError(thrown) }, "closing failed");
    });
  }
}
