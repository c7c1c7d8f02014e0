/** One process of lenswatch as `app/` composes it, with the service of a world and senders of the model. */
import { Reloader } from "../../src/app/reload.ts";
import type { Runtime } from "../../src/app/runtime.ts";
import { type Setup, withEngine } from "../../src/app/setup.ts";
import type { Config } from "../../src/config/config.ts";
import type { Logger } from "../../src/lib/log.ts";
import type { Service } from "../../src/service/service.ts";
import type { Connections } from "./connections.ts";
import { openModelRuntime } from "./runtime.ts";
import { createModelSenders, type Send } from "./senders.ts";
import type { QueueMemory } from "./virtual-queues.ts";

/** Longer than anything a start or a reload waits for: a sweep under way, the messages of an integration that left. */
const CHANGE_MS = 1_800_000;

export interface LenswatchOptions {
  readonly connections: Connections;
  readonly queues: QueueMemory;
  /** Of every key. */
  readonly prefix: string;
  readonly service: Service;
  readonly send: Send;
  readonly log?: Logger;
}

export class Lenswatch {
  readonly runtime: Runtime;
  readonly #reloader: Reloader;
  readonly #options: LenswatchOptions;

  static async start(options: LenswatchOptions, config: Config): Promise<Lenswatch> {
    const runtime = await openModelRuntime({ ...options, ignored: ["digest"] });
    const process = new Lenswatch(runtime, options, config);
    await options.queues.time.finish(process.#reloader.begin(), CHANGE_MS);
    return process;
  }

  private constructor(runtime: Runtime, options: LenswatchOptions, config: Config) {
    this.runtime = runtime;
    this.#options = options;
    const { service, send } = options;
    const build = (of: Runtime, next: Config): Setup =>
      withEngine(of, { config: next, senders: createModelSenders(next, send), service, heartbeat: undefined });
    this.#reloader = new Reloader(runtime, config, build);
  }

  setup(): Setup {
    return this.#reloader.current();
  }

  async reload(config: Config): Promise<void> {
    await this.#options.queues.time.finish(this.#reloader.change(config), CHANGE_MS);
  }

  /** Ends at once, as a process that is killed between two messages. */
  async stop(): Promise<void> {
    this.#reloader.stop();
    await this.runtime.queues.close();
    this.#options.connections.drop(this.runtime.redis);
  }
}
