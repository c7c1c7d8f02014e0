/** Connections to a real Redis of which it is known whether a reply is owed: the model waits for nothing else. */
import { setImmediate } from "node:timers/promises";
import { type Command, Redis } from "ioredis";

/** Turns of the event loop without a command after which nothing is under way: each step of a promise takes none. */
const QUIET_TURNS = 2;

export class Connections {
  readonly #url: string;
  readonly #open = new Set<Redis>();
  #owed = 0;
  #answered: (() => void) | undefined;

  constructor(url: string) {
    this.#url = url;
  }

  /** A connection, connected. */
  async connect(): Promise<Redis> {
    const redis = new Redis(this.#url, { lazyConnect: true, retryStrategy: null, maxRetriesPerRequest: 0 });
    redis.on("error", () => {});
    this.#owed++;
    await redis.connect().finally(this.#ended);
    const send = redis.sendCommand.bind(redis);
    redis.sendCommand = (command: Command, ...rest: never[]) => {
      this.#owed++;
      command.promise.then(this.#ended, this.#ended);
      return send(command, ...rest);
    };
    this.#open.add(redis);
    return redis;
  }

  /** As a process that is killed leaves it: what it sends from now on is refused. */
  drop(redis: Redis): void {
    this.#open.delete(redis);
    redis.disconnect();
  }

  close(): void {
    for (const redis of this.#open) this.drop(redis);
  }

  /** Resolves once no command is under way, and none follows from the last replies. */
  readonly quiet = async (): Promise<void> => {
    for (let turns = 0; turns < QUIET_TURNS; turns++) {
      if (this.#owed > 0) {
        await new Promise<void>((resolve) => {
          this.#answered = resolve;
        });
        turns = 0;
      }
      await setImmediate();
    }
  };

  readonly #ended = (): void => {
    this.#owed--;
    if (this.#owed > 0) return;
    this.#answered?.();
    this.#answered = undefined;
  };
}
