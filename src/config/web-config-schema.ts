/** The keys of Prometheus' web configuration file (github.com/prometheus/exporter-toolkit, docs/web-configuration.md). */
import { createSecureContext, type SecureContextOptions } from "node:tls";
import { z } from "zod";
import { unlessThrown } from "../lib/errors.ts";
import { certificateProblem } from "./http-client-schema.ts";
import { optional, type Parsed, refuse, section, withDefault } from "./key.ts";
import { enumerate, line, oneOf, pem, textMatching, trueOrFalse } from "./scalars.ts";

/** What a client's certificate must be: `ask` for it, `need` one, `verify` it against `client_ca`. */
const CLIENT_AUTH = {
  NoClientCert: { ask: false, need: false, verify: false },
  RequestClientCert: { ask: true, need: false, verify: false },
  RequireClientCert: { ask: true, need: true, verify: false },
  RequireAnyClientCert: { ask: true, need: true, verify: false },
  VerifyClientCertIfGiven: { ask: true, need: false, verify: true },
  RequireAndVerifyClientCert: { ask: true, need: true, verify: true },
} as const;
const policies = Object.keys(CLIENT_AUTH) as (keyof typeof CLIENT_AUTH)[];

const TLS13_SUITES = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"];
const TLS12_SUITES = ["RSA", "ECDSA"].flatMap((kind) =>
  ["AES_128_GCM_SHA256", "AES_256_GCM_SHA384", "CHACHA20_POLY1305_SHA256", "AES_128_CBC_SHA", "AES_256_CBC_SHA"].map(
    (cipher) => `TLS_ECDHE_${kind}_WITH_${cipher}`,
  ),
);
const CURVES = { X25519: "X25519", CurveP256: "P-256", CurveP384: "P-384", CurveP521: "P-521" } as const;
const curves = Object.keys(CURVES) as (keyof typeof CURVES)[];
const VERSIONS = { TLS12: "TLSv1.2", TLS13: "TLSv1.3" } as const;
const version = oneOf("TLS12", "TLS13");

function list<T>(each: z.ZodType<T>, expected: string): z.ZodType<T[]> {
  return z.array(each, { error: expected });
}

const tlsKeys = {
  cert: optional("The server's certificate with its chain.", pem, { secret: true }),
  key: optional("The private key of the certificate.", pem, { secret: true }),
  client_ca: optional("Certificate authorities of clients.", pem, { secret: true }),
  client_auth_type: withDefault("What a client's certificate must be.", oneOf(...policies), "NoClientCert"),
  client_allowed_sans: withDefault("Names of which a client's certificate must have one.", list(line, "a list"), []),
  min_version: withDefault("The lowest TLS version.", version, "TLS12"),
  max_version: withDefault("The highest TLS version.", version, "TLS13"),
  cipher_suites: withDefault(
    "Cipher suites of TLS 1.2.",
    list(oneOf(...TLS13_SUITES, ...TLS12_SUITES), "a list of cipher suites"),
    [],
  ),
  prefer_server_cipher_suites: withDefault("Whether the server's order counts.", trueOrFalse, "true"),
  curve_preferences: withDefault(
    "Curves for the key exchange.",
    list(oneOf(...curves), `a list of ${enumerate(curves)}`),
    [],
  ),
};

type Tls = Parsed<typeof tlsKeys>;

const tlsSection = section(tlsKeys, (tls, context) => {
  const problem = tlsProblem(tls);
  if (problem) refuse(context, ...problem);
});

function tlsProblem(tls: Tls): readonly [name: string, expected: string] | undefined {
  const { cert, key, client_ca: ca, client_auth_type: policy } = tls;
  if (cert === undefined) return ["cert", "a cert or a cert_file: TLS needs a certificate"];
  if (key === undefined) return ["key", "a key or a key_file: TLS needs the certificate's key"];
  const [name, expected] = certificateProblem({ ca, cert, key }) ?? [];
  if (name && expected) return [name === "ca" ? "client_ca" : name, expected];
  const { ask, verify } = CLIENT_AUTH[policy];
  if (verify && ca === undefined) return ["client_ca", `a client_ca or a client_ca_file for ${policy}`];
  if (ca !== undefined && !ask) return ["client_auth_type", "RequireAndVerifyClientCert beside client_ca"];
  if (tls.client_allowed_sans.length > 0 && !verify)
    return ["client_auth_type", "RequireAndVerifyClientCert or VerifyClientCertIfGiven beside client_allowed_sans"];
  if (tls.min_version > tls.max_version) return ["max_version", "a version that is not below min_version"];
  const isUsable = unlessThrown(() => createSecureContext(buildTls(tls).options)) !== undefined;
  return isUsable ? undefined : ["cert", "a certificate and settings that OpenSSL accepts"];
}

const header = textMatching("a text of visible ASCII and spaces", /^[\x20-\x7e]{0,4096}$/);
const headers = section({
  "Content-Security-Policy": optional("Replaces lenswatch's own.", header),
  "X-Frame-Options": optional("deny or sameorigin.", oneOf("deny", "sameorigin")),
  "X-Content-Type-Options": optional("nosniff.", oneOf("nosniff")),
  "X-XSS-Protection": optional("As given.", header),
  "Strict-Transport-Security": optional("As given.", header),
});

const http1 = trueOrFalse.refine((value) => !value, {
  error: "false: lenswatch speaks HTTP/1.1 only, which clients of HTTP/2 speak too",
});

const userName = textMatching("a user name without a colon", /^[^:\p{Cc}]{1,100}$/u);

/** The position names the user; the text could be a password in clear. */
const bcryptHash = z.string({ error: "a bcrypt hash" }).superRefine((text, context) => {
  if (/^\$2[aby]\$(?:0[4-9]|1[0-6])\$[./A-Za-z0-9]{53}$/.test(text)) return;
  const message = "a bcrypt hash of cost 4 to 16, as `htpasswd -nBC 10` prints it";
  context.addIssue({ code: "custom", message, params: { found: "another text" } });
});

export const webSection = section({
  tls_server_config: optional("TLS.", tlsSection),
  http_server_config: withDefault(
    "HTTP.",
    section({ http2: optional("HTTP/2.", http1), headers: withDefault("Headers of every answer.", headers, {}) }),
    {},
  ),
  basic_auth_users: withDefault("Users with their hashed passwords.", z.record(userName, bcryptHash), {}),
});

export type WebConfig = ReturnType<typeof buildWeb>;

/** TLS as `tls.createServer` takes it, users with their bcrypt hashes, and headers of every answer. */
export function buildWeb({
  tls_server_config,
  http_server_config,
  basic_auth_users,
}: z.output<typeof webSection.schema>) {
  const given = Object.entries(http_server_config.headers).filter(([, value]) => value);
  return {
    tls: tls_server_config && buildTls(tls_server_config),
    users: basic_auth_users,
    headers: Object.fromEntries(given) as Readonly<Record<string, string>>,
  };
}

/** Whether it lets some client prove who it is. */
export function signsIn({ users, tls }: WebConfig): boolean {
  return Object.keys(users).length > 0 || tls?.clientAuth.verify === true;
}

function buildTls(tls: Tls) {
  const { cert, key, client_ca: ca, cipher_suites: suites, curve_preferences: preferred } = tls;
  const options: SecureContextOptions = {
    cert,
    key,
    ca,
    minVersion: VERSIONS[tls.min_version],
    maxVersion: VERSIONS[tls.max_version],
    honorCipherOrder: tls.prefer_server_cipher_suites,
    // As in Go, the list does not restrict TLS 1.3.
    ciphers: suites.length === 0 ? undefined : [...new Set([...TLS13_SUITES, ...suites.map(openSslName)])].join(":"),
    ecdhCurve: preferred.map((name) => CURVES[name]).join(":") || undefined,
  };
  return { options, clientAuth: CLIENT_AUTH[tls.client_auth_type], allowedSans: tls.client_allowed_sans };
}

/** `TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256` → `ECDHE-RSA-AES128-GCM-SHA256`; names of TLS 1.3 are the same. */
function openSslName(name: string): string {
  if (TLS13_SUITES.includes(name)) return name;
  return name
    .replace(/^TLS_(.*)_WITH_/, "$1-")
    .replace(/AES_(\d+)_(?:CBC_)?/, "AES$1-")
    .replace(/_SHA256$/, (end) => (name.includes("CHACHA20") ? "" : end))
    .replaceAll("_", "-");
}
