/** `http_config`: authentication and TLS of requests to an endpoint, as in Prometheus. */
import type { z } from "zod";
import { type Key, optional, type Parsed, refuse, required, section, withDefault } from "./key.ts";
import { host, line, token } from "./scalars.ts";
import { checkTls, tlsKeys } from "./tls-schema.ts";

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

const httpClient = section(keys, (value: Parsed<typeof keys>, context) => {
  if (value.authorization === undefined || value.basic_auth === undefined) return;
  refuse(context, "basic_auth", "only one of authorization and basic_auth");
});

type HttpClientInput = z.output<typeof httpClient.schema>;

/** The key `http_config` for a server, named in the middle of a sentence. */
export function httpConfig(server: string): Key<HttpClientInput | undefined> {
  return optional(`Authentication and TLS of requests to ${server}.`, httpClient);
}

/** At most one of `authorization` and `basicAuth`; certificates as PEM. */
export function buildHttpClient(input: HttpClientInput | undefined) {
  const { authorization, basic_auth: basicAuth, tls_config: tls } = input ?? {};
  return {
    authorization,
    basicAuth,
    tls: tls && { ca: tls.ca, cert: tls.cert, key: tls.key, servername: tls.server_name },
  };
}
