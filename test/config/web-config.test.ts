import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { ConfigError, formatProblem } from "../../src/config/problem.ts";
import { createConfigSource } from "../../src/config/source.ts";
import { temporaryDirectory } from "../support/directory.ts";
import { hasOpenssl, makePki } from "../support/pki.ts";
import { receivers, service } from "./text.ts";

const pki = hasOpenssl ? makePki() : undefined;
const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;
const HASH = "$2y$10$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG";

/** A directory with certificates in `certs`, a web configuration in `web`, and a configuration that names it. */
async function written(text: string) {
  const dir = await temporaryDirectory();
  const at = (name: string) => join(dir, name);
  for (const folder of ["certs", "web"]) mkdirSync(at(folder));
  const { ca = "", server, client } = pki ?? {};
  const files = { ca, "server.crt": server?.cert, "server.key": server?.key, "client.key": client?.key };
  for (const [name, content] of Object.entries(files)) writeFileSync(at(`certs/${name}`), content ?? "");
  writeFileSync(at("web/web.yml"), text);
  writeFileSync(at("lenswatch.yaml"), `${service}${receivers}http: { web_config_file: web/web.yml }\n`);
  return { at, load: async () => (await loadConfig(at("lenswatch.yaml"), {})).http };
}

async function problems(text: string): Promise<string[]> {
  const { at, load } = await written(text);
  const found = await load().then(
    () => [],
    (thrown) => (thrown instanceof ConfigError ? thrown.problems : [thrown]),
  );
  return found.map((problem) => formatProblem(problem).replace(`${at("")}/`, ""));
}

const pair = "cert_file: ../certs/server.crt, key_file: ../certs/server.key";
const withClients = "client_ca_file: ../certs/ca, client_auth_type: RequireAndVerifyClientCert";

const good = {
  nothing: "",
  "a pair": `tls_server_config: { ${pair} }`,
  "clients' certificates": `tls_server_config: { ${pair}, ${withClients} }`,
  versions: `tls_server_config: { ${pair}, min_version: TLS13, max_version: TLS13 }`,
  ciphers: `tls_server_config: { ${pair}, cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA, TLS_AES_256_GCM_SHA384], prefer_server_cipher_suites: false }`,
  curves: `tls_server_config: { ${pair}, curve_preferences: [CurveP256, X25519, CurveP384, CurveP521] }`,
  "no HTTP/2": `tls_server_config: { ${pair} }\nhttp_server_config: { http2: false }`,
  headers: `http_server_config: { headers: { X-Frame-Options: deny, X-Content-Type-Options: nosniff, Strict-Transport-Security: max-age=60, X-XSS-Protection: "1" } }`,
  users: `basic_auth_users: { alice: ${HASH}, bob: ${HASH} }`,
};

describe.skipIf(!hasOpenssl)("what Prometheus takes is taken", () => {
  test.each(Object.entries(good))("%s", async (_, text) => {
    const { at, load } = await written(text);
    await load();
    if (hasPromtool) expect(spawnSync("promtool", ["check", "web-config", at("web/web.yml")]).status).toBe(0);
  });

  test("names that a client's certificate may have, which older versions of promtool do not know", async () => {
    const text = `tls_server_config: { ${pair}, ${withClients}, client_allowed_sans: [a.example, 10.0.0.1] }`;
    expect((await (await written(text)).load()).web?.tls?.allowedSans).toEqual(["a.example", "10.0.0.1"]);
  });

  test("with its meaning, and paths that start beside the file", async () => {
    const { load } = await written(`${good.ciphers}\n${good.headers}\n${good.users}`);
    expect(await load()).toMatchObject({
      isTls: true,
      web: {
        users: { alice: HASH, bob: HASH },
        headers: { "X-Frame-Options": "deny" },
        tls: {
          clientAuth: { ask: false, need: false },
          options: {
            cert: pki?.server.cert.trim(),
            honorCipherOrder: false,
            minVersion: "TLSv1.2",
            ciphers: expect.stringMatching(
              /TLS_AES_128_GCM_SHA256:.*:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES256-SHA$/,
            ),
          },
        },
      },
    });
  });

  test("environment variables mean nothing in it", async () => {
    const reference = ["$", "{HOME}"].join("");
    const text = `http_server_config: { headers: { X-XSS-Protection: "${reference}" } }`;
    expect((await (await written(text)).load()).web?.headers).toEqual({ "X-XSS-Protection": reference });
  });
});

describe.skipIf(!hasOpenssl)("refused in a sentence, with its position in the web configuration", () => {
  test.each([
    ["certs: 1", "1:1: certs: found the unknown key `certs`, expected one of tls_server_config, http_server_config"],
    ["rate_limit: { interval: 1s }", "1:1: rate_limit: found the unknown key `rate_limit`, expected one of"],
    ["tls_server_config: {}", "1:1: tls_server_config.cert: found nothing, expected a cert or a cert_file"],
    ["tls_server_config: { min_version: TLS13 }", "1:1: tls_server_config.cert: found nothing"],
    ["tls_server_config: { cert_file: ../certs/server.crt }", "1:1: tls_server_config.key: found nothing"],
    [
      "tls_server_config:\n  cert_file: server.crt\n  key_file: ../certs/server.key",
      "2:14: tls_server_config.cert_file: found a path that cannot be read (ENOENT)",
    ],
    [
      "tls_server_config: { cert_file: ../certs/server.crt, key_file: ../certs/client.key }",
      "1:64: tls_server_config.key: found an invalid secret, expected the key of the certificate beside it",
    ],
    [
      `tls_server_config: { ${pair}, client_auth_type: RequireAndVerifyClientCert }`,
      "tls_server_config.client_ca: found nothing, expected a client_ca or a client_ca_file",
    ],
    [
      `tls_server_config: { ${pair}, client_ca_file: ../certs/ca }`,
      "expected RequireAndVerifyClientCert beside client_ca",
    ],
    [`tls_server_config: { ${pair}, client_allowed_sans: [a] }`, "beside client_allowed_sans"],
    [
      `tls_server_config: { ${pair}, client_auth_type: Always }`,
      'client_auth_type: found "Always", expected NoClientCert',
    ],
    [`tls_server_config: { ${pair}, min_version: TLS10 }`, 'min_version: found "TLS10", expected TLS12 or TLS13'],
    [`tls_server_config: { ${pair}, min_version: TLS13, max_version: TLS12 }`, "expected a version that is not below"],
    [`tls_server_config: { ${pair}, cipher_suites: [TLS_RSA_WITH_RC4_128_SHA] }`, "cipher_suites[0]: found"],
    [`tls_server_config: { ${pair}, curve_preferences: [P1] }`, 'curve_preferences[0]: found "P1", expected X25519'],
    ["http_server_config: { http2: true }", 'http2: found "true", expected false: lenswatch speaks HTTP/1.1 only'],
    ["http_server_config: { headers: { Server: x } }", "headers.Server: found the unknown key `Server`"],
    ["http_server_config: { headers: { X-Frame-Options: allow } }", "expected deny or sameorigin"],
    ["basic_auth_users:\n  alice: hunter2", "2:10: basic_auth_users.alice: found another text, expected a bcrypt hash"],
    [`basic_auth_users: { a: "${HASH.replace("$10$", "$20$")}" }`, "expected a bcrypt hash of cost 4 to 16"],
    ["tls_server_config: {", "1:"],
  ])("%s", async (text, expected) => {
    const [first = "", ...more] = await problems(text);
    expect(first).toMatch(/^web\/web\.yml:/);
    expect(first).toContain(expected);
    expect(more).toEqual([]);
    expect(first).not.toMatch(/hunter2|PRIVATE KEY/);
  });

  test("a file that is not there is a problem of the configuration", async () => {
    const { at, load } = await written("");
    writeFileSync(at("lenswatch.yaml"), `${service}${receivers}http: { web_config_file: web.yml }\n`);
    const expected = "http.web_config_file: found a path that cannot be read (ENOENT)";
    await expect(load().catch(({ problems: [first] }) => formatProblem(first))).resolves.toContain(expected);
  });
});

test.skipIf(!hasOpenssl)("a renewed certificate is a change of the configuration", async () => {
  const { at } = await written(good["a pair"]);
  const source = createConfigSource(at("lenswatch.yaml"), {});
  await source.load();
  expect(await source.contentHash()).toBe(source.loadedHash());
  writeFileSync(at("certs/server.crt"), pki?.elsewhere.cert ?? "");
  expect(await source.contentHash()).not.toBe(source.loadedHash());
});

if (!hasPromtool) test.skip("skipped in part: promtool is not installed", () => undefined);
if (!hasOpenssl) test.skip("skipped: openssl is not installed", () => undefined);
