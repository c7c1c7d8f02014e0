/** `redis`: one server, a master found through Sentinels, or a cluster. */
import { z } from "zod";
import { tlsSection } from "./http-client-schema.ts";
import { optional, type Parsed, refuse, section, withDefault } from "./key.ts";
import { address, line, prefix, url } from "./scalars.ts";

const addresses = (what: string) =>
  z.array(address, { error: `a list of ${what}` }).min(1, { error: `at least one of ${what}` });

const keys = {
  url: optional(
    "The server's URL (unix:///run/redis.sock for a socket); without one, an embedded redis-server is started with its data in ./data.",
    url("a redis://, rediss:// or unix:// URL", { schemes: ["redis", "rediss", "unix"], login: true, query: true }),
    { secret: true },
  ),
  sentinels: optional("Instead of `url`: Sentinels that know the master.", addresses("Sentinels as host:port")),
  name: optional("The master's name at the Sentinels.", line),
  cluster: optional("Instead of `url`: some nodes of a cluster.", addresses("nodes as host:port")),
  username: optional("The username for `sentinels`' master or `cluster`; a URL contains its own.", line),
  password: optional("The password for `sentinels`' master or `cluster`.", line, { secret: true }),
  sentinel_password: optional("The password of the Sentinels themselves.", line, { secret: true }),
  tls: optional("TLS with your own certificates; a rediss:// URL alone uses the system's.", tlsSection("Redis")),
  prefix: withDefault("The prefix of every Redis key.", prefix, "lenswatch"),
};

export const redisSection = section(keys, check);

function check(value: Parsed<typeof keys>, context: z.RefinementCtx): void {
  const given = (["url", "sentinels", "cluster"] as const).filter((key) => value[key] !== undefined);
  const [first, second] = given;
  if (first && second) refuse(context, second, `only one of url, sentinels and cluster; ${first} is already set`);
  if (value.sentinels && value.name === undefined) refuse(context, "name", "the master's name beside the sentinels");
  for (const key of ["name", "sentinel_password"] as const) {
    if (value[key] !== undefined && !value.sentinels) refuse(context, key, "sentinels beside it");
  }
  for (const key of ["username", "password"] as const) {
    if (value[key] !== undefined && !value.sentinels && !value.cluster)
      refuse(context, key, "sentinels or cluster beside it; a url contains its login");
  }
  if (value.username !== undefined && value.password === undefined)
    refuse(context, "password", "a password beside the username");
  if (!value.tls) return;
  if (given.length === 0) refuse(context, "tls", "a url, sentinels or a cluster beside it");
  if (value.url !== undefined && !/^rediss:/i.test(value.url)) refuse(context, "tls", "a rediss:// URL beside it");
}
