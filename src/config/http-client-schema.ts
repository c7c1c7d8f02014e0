/** `tls`, `http.tls` and `http_config`. Certificates are parsed here: a truncated file or a foreign key is refused. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import type { z } from "zod";
import { unlessThrown } from "../lib/errors.ts";
import { type ConfigSection, mapped, optional, type Parsed, refuse, required, section, withDefault } from "./key.ts";
import { host, line, pem, token } from "./scalars.ts";

/** The keys `ca`, `cert` and `key` for connections to a server, named in the middle of a sentence. */
function tlsKeys(server: string) {
  return {
    ca: optional(`Certificate authorities trusted for ${server}; the system's by default.`, pem, { secret: true }),
    cert: optional(`The client certificate for ${server}.`, pem, { secret: true }),
    key: optional("The private key of the client certificate.", pem, { secret: true }),
  };
}

type Tls = Parsed<ReturnType<typeof tlsKeys>>;
type Pem = Partial<Tls>;

export function tlsSection(server: string): ConfigSection<Tls> {
  return section(tlsKeys(server), checkTls);
}

/** Refuses a certificate without its key or the reverse, what cannot be parsed, and a key of another certificate. */
function checkTls(tls: Pem, context: z.RefinementCtx): void {
  const problem = certificateProblem(tls);
  if (problem) refuse(context, ...problem);
}

/** The key with a problem, and what is expected of it. */
function certificateProblem({ ca, cert, key }: Pem): readonly [keyof Tls, string] | undefined {
  if (ca !== undefined && !firstOf(ca)) return ["ca", "certificates that can be read"];
  if (cert === undefined) return key === undefined ? undefined : ["cert", "a cert beside the key"];
  if (key === undefined) return ["key", "a key beside the cert"];
  const certificate = firstOf(cert);
  if (!certificate) return ["cert", "a certificate that can be read"];
  const known = unlessThrown(() => createPrivateKey(key));
  if (!known) return ["key", "a private key that can be read, without a passphrase"];
  return certificate.checkPrivateKey(known) ? undefined : ["key", "the key of the certificate beside it"];
}

/** The first certificate where all of them can be parsed. */
function firstOf(text: string): X509Certificate | undefined {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  return unlessThrown(() => blocks.map((block) => new X509Certificate(block)))?.[0];
}

/** The certificate of our own listeners. */
export const serverTls = section(
  {
    cert: required("The certificate with its chain.", pem, { secret: true }),
    key: required("The private key of the certificate.", pem, { secret: true }),
  },
  checkTls,
);

const authorization = section({
  type: withDefault("The authentication scheme.", token, "Bearer"),
  credentials: required("The credentials.", token, { secret: true }),
});

const basicAuth = section({
  username: required("The username.", line),
  password: required("The password.", line, { secret: true }),
});

const tlsConfig = section(
  { ...tlsKeys("it"), server_name: optional("The name its certificate must match; the URL's host by default.", host) },
  checkTls,
);

const keys = {
  authorization: optional("The Authorization header.", authorization),
  basic_auth: optional("Instead of `authorization`: HTTP basic authentication.", basicAuth),
  tls_config: optional("TLS with your own certificates.", tlsConfig),
};

const httpClient = mapped(
  section(keys, (value, context) => {
    if (value.authorization === undefined || value.basic_auth === undefined) return;
    refuse(context, "basic_auth", "only one of authorization and basic_auth");
  }),
  ({ authorization, basicAuth, tlsConfig }) => {
    const { serverName: servername, ...material } = tlsConfig ?? {};
    return { authorization, basicAuth, tls: tlsConfig && { ...material, servername } };
  },
);

const NO_SETTINGS: z.output<typeof httpClient.schema> = {
  authorization: undefined,
  basicAuth: undefined,
  tls: undefined,
};

/** The key `http_config` for a server, named in the middle of a sentence. */
export function httpConfig(server: string) {
  return optional(`Authentication and TLS of requests to ${server}.`, httpClient);
}

/** An entry with `http` instead of `httpConfig`: at most one of `authorization` and `basicAuth`, certificates as PEM. */
export function withHttp<T extends { readonly httpConfig: typeof NO_SETTINGS | undefined }>(entry: T) {
  const { httpConfig: http = NO_SETTINGS, ...rest } = entry;
  return { ...rest, http };
}
