/** Where Redis is: one server, a master that Sentinels know, or a cluster. */
import { z } from "zod";
import { optional, type Parsed, section, withDefault } from "./key.ts";
import { address, line, prefix, url } from "./scalars.ts";
import { checkTls, tlsKeys } from "./tls-schema.ts";

const addresses = (what: string) =>
  z.array(address, { error: `a list of ${what}` }).min(1, { error: `at least one of ${what}` });

const tls = section(tlsKeys("Redis"), checkTls);

const keys = {
  url: optional(
    "The server; absent, an embedded redis-server is started, its data in ./data.",
    url("a redis:// or rediss:// URL", { schemes: ["redis", "rediss"], login: true, query: true }),
    { secret: true },
  ),
  sentinels: optional(
    "Instead of `url`: Sentinels that know the master.",
    addresses("Sentinels as host:port"),
  ),
  name: optional("What the Sentinels call it.", line),
  cluster: optional("Instead of `url`: some nodes of a cluster.", addresses("nodes as host:port")),
  username: optional("The login of `sentinels`' master or of `cluster`; a URL has its own.", line),
  password: optional("The password that belongs to it.", line, { secret: true }),
  sentinel_password: optional("The password of the Sentinels themselves.", line, { secret: true }),
  tls: optional("TLS, with certificates of one's own; a rediss:// URL needs none.", tls.schema, {
    section: () => tls,
  }),
  prefix: withDefault("What every key in Redis begins with.", prefix, "lenswatch"),
};

export const redisSection = section(keys, check);

function check(value: Parsed<typeof keys>, context: z.RefinementCtx): void {
  const refuse = (path: string, message: string) =>
    context.addIssue({ code: "custom", path: [path], message });
  const places = (["url", "sentinels", "cluster"] as const).filter((place) => value[place] !== undefined);
  const [first, second] = places;
  if (first && second) refuse(second, `only one of url, sentinels and cluster; there is ${first} already`);
  if (value.sentinels && value.name === undefined) refuse("name", "the master's name beside the sentinels");
  for (const key of ["name", "sentinel_password"] as const) {
    if (value[key] !== undefined && !value.sentinels) refuse(key, "sentinels beside it");
  }
  for (const key of ["username", "password"] as const) {
    if (value[key] !== undefined && !value.sentinels && !value.cluster)
      refuse(key, "sentinels or cluster beside it; a url has its login inside");
  }
  if (value.username !== undefined && value.password === undefined)
    refuse("password", "a password beside the username");
  if (value.tls && places.length === 0) refuse("tls", "a url, sentinels or a cluster beside it");
  if (value.tls && value.url !== undefined && !/^rediss:/i.test(value.url))
    refuse("tls", "a rediss:// URL beside it");
}
