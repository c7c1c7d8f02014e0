/** A connection of a process that is killed before or after one of its commands: nothing of it is sent after that. */
import { setImmediate as turn } from "node:timers/promises";
import type { Redis } from "ioredis";

export interface Kill {
  /** Of its commands, where a pipeline counts as one, from 0. */
  readonly nth: number;
  readonly isAfter: boolean;
}

export async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await turn();
}

export class KillableRedis {
  readonly redis: Redis;
  readonly killed = Promise.withResolvers<"killed">();
  isDead = false;
  #left = Number.POSITIVE_INFINITY;
  #isAfter = false;
  #batch: unknown;

  /** Scripts are sent up to `delays` turns of the event loop later, so that those of several processes overtake each other. */
  constructor(redis: Redis, delays: () => number) {
    const send: Redis["sendCommand"] = (...args) => redis.sendCommand(...args);
    this.redis = Object.create(redis) as Redis;
    this.redis.sendCommand = (command, stream) => {
      const isSame = stream !== undefined && stream === this.#batch;
      // The commands of a pipeline are sent together, or not at all.
      if (this.isDead) return isSame && this.#isAfter ? send(command, stream) : new Promise(() => {});
      this.#batch = stream;
      if (!isSame && this.#left-- === 0) return this.#die(() => send(command, stream));
      if (stream !== undefined || !command.name.startsWith("eval")) return send(command, stream);
      return turns(delays()).then(() => (this.isDead ? new Promise(() => {}) : send(command)));
    };
  }

  /** Undefined: it lives on. */
  kill(kill: Kill | undefined): void {
    this.#left = kill?.nth ?? Number.POSITIVE_INFINITY;
    this.#isAfter = kill?.isAfter ?? false;
  }

  #die(send: () => unknown): Promise<never> {
    this.isDead = true;
    this.killed.resolve("killed");
    if (this.#isAfter) send();
    return new Promise(() => {});
  }
}
