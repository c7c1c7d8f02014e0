/** `http`: the listener, its tokens, and the proxies that sign people in. */
import { isIP } from "node:net";
import type { z } from "zod";
import { serverTls } from "./http-client-schema.ts";
import { listOf, mapped, optional, type Parsed, refuse, required, section, withDefault } from "./key.ts";
import type { Finding } from "./problem.ts";
import { line, listen, name, oneOf, oneOrMore, textMatching, textThat, trueOrFalse, webUrl } from "./scalars.ts";

const token = textMatching(
  "at least 16 characters without spaces, as `openssl rand -hex 32` prints them",
  /^[\x21-\x7e]{16,4096}$/,
);

const tokenSection = section({
  name: required("The token's name, in the log and in messages.", name),
  token: required("The token, of at least 16 characters.", token, { secret: true }),
  scopes: required(
    "What it permits: read, alerts (posting them), silence (and acknowledging), admin (everything).",
    oneOrMore(oneOf("read", "alerts", "silence", "admin"), "a list of scopes").refine((list) => list.length > 0, {
      error: "at least one scope",
    }),
  ),
});

/** An address or a network; not all of them. */
const network = textThat("an address or a network such as 10.0.0.0/8", (text) => {
  const [address = "", bits, ...more] = text.split("/");
  const most = { 4: 32, 6: 128 }[isIP(address)];
  if (most === undefined || more.length > 0) return false;
  return bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= most);
});

const header = textMatching("the name of a header", /^[A-Za-z0-9-]{1,100}$/);

const proxyKeys = {
  user_header: required("The header with the user's name, such as X-Forwarded-User.", header),
  groups_header: optional("The header with the user's groups, separated by commas.", header),
  admin_groups: withDefault(
    "Groups whose members have the scope admin; all other users have read.",
    oneOrMore(line, "a list of groups"),
    [],
  ),
};

const authProxy = section(proxyKeys, ({ admin_groups, groups_header }, context) => {
  if (admin_groups.length > 0 && groups_header === undefined)
    refuse(context, "groups_header", "a groups_header beside the admin_groups");
});

const httpKeys = {
  listen: withDefault("The address to listen on.", listen, "127.0.0.1:9595"),
  metrics_listen: optional("The address of metrics and probes; `listen` by default.", listen),
  tls: optional("TLS of both listeners; a renewed certificate is taken over.", serverTls),
  external_url: optional("The external URL: the base of links in messages.", webUrl),
  admin_token: optional("The token for everything; short for an entry of `tokens`.", token, { secret: true }),
  read_token: optional("The token for reading; short for an entry of `tokens`.", token, { secret: true }),
  tokens: withDefault("Tokens by name, each with its scopes; several may be valid at once.", listOf(tokenSection), []),
  allow_anonymous: optional(
    "Whether reading needs no token; by default only on a loopback address, without a token for reading.",
    trueOrFalse,
  ),
  trusted_proxies: withDefault(
    "Addresses and networks of proxies whose X-Forwarded-For is believed.",
    oneOrMore(network, "a list of networks"),
    [],
  ),
  auth_proxy: optional("Sign-on by a proxy of `trusted_proxies`, which sends the user's name.", authProxy),
};

/** The address of the HTTP server, and its access; short forms of tokens are entries like the others. */
export const httpSection = mapped(
  section(httpKeys, (http, context) => {
    checkTokens(http, context);
    if (http.auth_proxy && http.trusted_proxies.length === 0)
      refuse(context, "auth_proxy", "`trusted_proxies` beside it, with the proxy's address");
  }),
  ({ listen, adminToken, readToken, tokens, ...rest }) => {
    const short = [
      { name: "admin_token", token: adminToken ?? "", scopes: ["admin" as const] },
      { name: "read_token", token: readToken ?? "", scopes: ["read" as const] },
    ].filter(({ token }) => token !== "");
    return { ...listen, ...rest, tokens: [...short, ...tokens] };
  },
);

export type HttpConfig = z.output<typeof httpSection.schema>;

/** The tokens with their places in the file. */
function tokensOf({ tokens, admin_token, read_token }: Parsed<typeof httpKeys>) {
  const short = { admin_token, read_token };
  return [
    ...Object.entries(short).map(([name, token]) => ({ name, token, at: [name], nameAt: [name] })),
    ...tokens.map(({ name, token }, i) => ({ name, token, at: ["tokens", i, "token"], nameAt: ["tokens", i, "name"] })),
  ].filter(({ token }) => token !== undefined);
}

function checkTokens(http: Parsed<typeof httpKeys>, context: z.RefinementCtx): void {
  const all = tokensOf(http);
  for (const [i, { name, token, at, nameAt }] of all.entries()) {
    const before = all.slice(0, i);
    const add = (path: (string | number)[], message: string) => context.addIssue({ code: "custom", path, message });
    if (before.some((other) => other.token === token))
      add(at, "a token that no other entry has: `openssl rand -hex 32` makes one");
    if (before.some((other) => other.name === name)) add(nameAt, "a name that no other token has");
  }
}

/** Readers from elsewhere need a way to sign in, unless it is said that they need none. */
export function checkReading(http: HttpConfig): Finding[] {
  const { host, metricsListen, tokens, authProxy, allowAnonymous, trustedProxies } = http;
  const mayRead = tokens.some(({ scopes }) => scopes.includes("read") || scopes.includes("admin"));
  if (allowAnonymous || mayRead || authProxy) return [];
  const closed =
    "`read_token` or `admin_token` beside it (`openssl rand -hex 32` makes one), or `allow_anonymous: true`";
  const refused = (key: string, found: string, expected = closed): Finding[] => [
    { kind: "conflict", path: ["http", key], found, expected },
  ];
  for (const [key, address] of Object.entries({ listen: { host }, metrics_listen: metricsListen }))
    if (address && !isLoopback(address.host))
      return refused(key, "an address that others reach", `a loopback address, or ${closed}`);
  if (trustedProxies.length > 0) return refused("trusted_proxies", "proxies that others come through");
  return allowAnonymous === false ? refused("allow_anonymous", "false") : [];
}

/** Reading is open to everybody who reaches the port. */
export function isReadingOpen(http: HttpConfig): boolean {
  const { host, metricsListen, tokens, allowAnonymous, trustedProxies, authProxy } = http;
  if (allowAnonymous !== undefined) return allowAnonymous;
  const isReached = ![host, metricsListen?.host ?? host].every(isLoopback) || trustedProxies.length > 0;
  return !isReached && !authProxy && !tokens.some(({ scopes }) => scopes.includes("read"));
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}
