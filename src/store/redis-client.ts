/** A client of one server, of a master behind Sentinels, or of a cluster, where one hash tag has all keys. */
import { Cluster, Redis, type RedisOptions } from "ioredis";
import { type BackoffPolicy, backoffMs } from "../lib/backoff.ts";
import { type TlsMaterial, tlsOptions } from "../lib/tls.ts";

const RECONNECT: BackoffPolicy = { baseMs: 100, capMs: 5_000 };
const CONNECT_TIMEOUT_MS = 5_000;

type RedisAddress = { readonly host: string; readonly port: number };

/** The place of Redis: one of `url`, `sentinels` and `cluster`. */
export interface RedisPlace {
  readonly url?: string | undefined;
  readonly sentinels?: readonly RedisAddress[] | undefined;
  /** The name that Sentinels give the master. */
  readonly name?: string | undefined;
  readonly cluster?: readonly RedisAddress[] | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly sentinelPassword?: string | undefined;
  /** A server's certificate is verified always. */
  readonly tls?: Omit<TlsMaterial, "servername"> | undefined;
}

/**
 * ioredis ends a client for good where Sentinels announce a failover while it asks one for the new master: its detector
 * belongs to the lost connection. Such an end is none; `duplicate` is what BullMQ's workers block.
 */
class SentinelRedis extends Redis {
  #isClosed = false;

  constructor(options: Omit<RedisOptions, "replyMapping">) {
    super(options);
    this.on("end", () => {
      if (!this.#isClosed) setTimeout(() => void this.connect().catch(() => {}), RECONNECT.baseMs);
    });
  }

  override disconnect(reconnect = false): void {
    this.#isClosed ||= !reconnect;
    super.disconnect(reconnect);
  }

  override quit(): Promise<"OK"> {
    this.#isClosed = true;
    return super.quit();
  }

  override duplicate(override: Partial<RedisOptions> = {}): Redis {
    return new SentinelRedis({ ...this.options, ...override });
  }
}

/**
 * A client that connects lazily and never gives up. Workers of BullMQ need `maxRetriesPerRequest: null`, and so do
 * we: a command waits for Redis instead of failing. `name` shows in `CLIENT LIST`.
 */
export function createClient(place: RedisPlace, name: string): Redis {
  const { url, sentinels, cluster, username, password } = place;
  const retry = (times: number) => backoffMs(RECONNECT, times);
  const common = {
    connectionName: name,
    lazyConnect: true,
    maxRetriesPerRequest: null,
    retryStrategy: retry,
    connectTimeout: CONNECT_TIMEOUT_MS,
    // After a failover the old master answers READONLY for ever: reconnect and send the command again.
    reconnectOnError: (error: Error) => (error.message.startsWith("READONLY") ? 2 : false),
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
  } satisfies RedisOptions;
  const tls = place.tls || /^rediss:/i.test(url ?? "") ? tlsOptions(place.tls) : undefined;
  if (sentinels) {
    return new SentinelRedis({
      ...common,
      sentinels: [...sentinels],
      name: place.name ?? "",
      ...(place.sentinelPassword === undefined ? {} : { sentinelPassword: place.sentinelPassword }),
      sentinelRetryStrategy: retry,
      failoverDetector: true,
      ...(tls ? { tls, sentinelTLS: tls, enableTLSForSentinelMode: true } : {}),
    });
  }
  if (cluster) {
    const { lazyConnect, retryStrategy: _, ...redisOptions } = common;
    const client = new Cluster([...cluster], {
      lazyConnect,
      clusterRetryStrategy: retry,
      redisOptions: { ...redisOptions, ...(tls ? { tls } : {}) },
      // A certificate names hosts; without this a node would be addressed by its IP.
      ...(tls ? { dnsLookup: (address, callback) => callback(null, address) } : {}),
    });
    // A cluster's client has the same commands; what it lacks (`select`, say) is used nowhere.
    return client as unknown as Redis;
  }
  if (url?.startsWith("unix:")) {
    const { pathname, searchParams } = new URL(url);
    return new Redis({ ...common, ...Object.fromEntries(searchParams), path: decodeURIComponent(pathname) });
  }
  return new Redis((url ?? "").replace(/^rediss:/i, "redis:"), { ...common, ...(tls ? { tls } : {}) });
}

/** True where a replica may replace the master: then a write may be lost unless the replica has it too. */
export function canFailOver({ sentinels, cluster }: RedisPlace): boolean {
  return sentinels !== undefined || cluster !== undefined;
}
