/** `http_config`: how an endpoint of somebody else's is asked, in Prometheus' words. */
import type { z } from "zod";
import { type Key, optional, type Parsed, required, section, withDefault } from "./key.ts";
import { host, line, token } from "./scalars.ts";
import { checkTls, tlsKeys } from "./tls-schema.ts";

const authorization = section({
  type: withDefault("The first word of the header.", token, "Bearer"),
  credentials: required("What follows it.", token, { secret: true }),
});

const basicAuth = section({
  username: required("The login.", line),
  password: required("The password that belongs to it.", line, { secret: true }),
});

const tlsConfig = section(
  {
    ...tlsKeys("it"),
    server_name: optional("The name its certificate has to be for; the URL's by default.", host),
  },
  checkTls,
);

const keys = {
  authorization: optional("The header Authorization.", authorization.schema, {
    section: () => authorization,
  }),
  basic_auth: optional("Instead of `authorization`: a login.", basicAuth.schema, {
    section: () => basicAuth,
  }),
  tls_config: optional("TLS, with certificates of one's own.", tlsConfig.schema, {
    section: () => tlsConfig,
  }),
};

const httpClient = section(keys, check);

function check(
  { authorization: one, basic_auth: other }: Parsed<typeof keys>,
  context: z.RefinementCtx,
): void {
  if (one === undefined || other === undefined) return;
  const message = "only one of authorization and basic_auth";
  context.addIssue({ code: "custom", path: ["basic_auth"], message });
}

export type HttpClientInput = z.output<typeof httpClient.schema>;

/** The key `http_config`, of what is named in the middle of a sentence. */
export function httpConfig(of: string): Key<HttpClientInput | undefined> {
  return optional(`How ${of} is asked: its login and its certificates.`, httpClient.schema, {
    section: () => httpClient,
  });
}

/** How an endpoint is asked; one of `authorization` and `basicAuth` at most, certificates as PEM. */
export function buildHttpClient(input: HttpClientInput | undefined) {
  const { authorization, basic_auth: basicAuth, tls_config: tls } = input ?? {};
  return {
    authorization,
    basicAuth,
    tls: tls && { ca: tls.ca, cert: tls.cert, key: tls.key, servername: tls.server_name },
  };
}
