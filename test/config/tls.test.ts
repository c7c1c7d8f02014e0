import { generateKeyPairSync } from "node:crypto";
import { rootCertificates } from "node:tls";
import { describe, expect, test } from "vitest";
import { hasOpenssl, makePki } from "../support/pki.ts";
import { configOf, problemsOf, receivers, service } from "./text.ts";

const [ca = "", other = ""] = rootCertificates;
const strange = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
const key = String(strange.export({ type: "pkcs8", format: "pem" }));
const sealed = String(strange.export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "c4nary" }));
const cut = ca.slice(0, 300).concat("\n-----END CERTIFICATE-----\n");

const withRedis = `${service}${receivers}redis: { url: "rediss://a", tls: TLS }\n`;
const withService = `${service.trimEnd()}\n  tls: TLS\n${receivers}`;
const withMail = `${service}${receivers}smtp: { host: a.example, from: a@a.example, tls: TLS }\n`;
const withWebhook = `${service}receivers: [{ name: ops, webhook_configs: [{ url: "https://a.example", http_config: { tls_config: TLS } }] }]\n`;
const sections = [
  ["redis.tls", withRedis],
  ["service.tls", withService],
  ["smtp.tls", withMail],
  ["receivers[0].webhook_configs[0].http_config.tls_config", withWebhook],
] as const;

const read = (files: Record<string, string>) => (path: string) => files[path] ?? "";

describe.each(sections)("%s", (path, text) => {
  test.each([
    ["half a pair", "{ cert_file: cert }", { cert: ca }, "key", "a key beside the cert"],
    ["the other half", "{ key_file: key }", { key }, "cert", "a cert beside the key"],
    ["an authority cut short", "{ ca_file: ca }", { ca: ca + cut }, "ca", "certificates that can be read"],
    ["a key for an authority", "{ ca_file: ca }", { ca: key }, "ca", "certificates that can be read"],
    ["no PEM", "{ ca_file: ca }", { ca: "x" }, "ca", "text that begins with -----BEGIN"],
    [
      "a certificate cut short",
      "{ cert_file: cert, key_file: key }",
      { cert: cut, key },
      "cert",
      "a certificate that can be read",
    ],
    [
      "a key of another certificate",
      "{ cert_file: cert, key_file: key }",
      { cert: other, key },
      "key",
      "the key of the certificate beside it",
    ],
    [
      "a key with a passphrase",
      "{ cert_file: cert, key_file: key }",
      { cert: ca, key: sealed },
      "key",
      "a private key that can be read, without a passphrase",
    ],
  ])("refuses %s", (_, tls, files, at, expected) => {
    const said = problemsOf(text.replace("TLS", tls), {}, read(files as unknown as Record<string, string>));
    expect(said).toHaveLength(1);
    expect(said[0]).toContain(`${path}.${at}: found `);
    expect(said[0]).toContain(`, expected ${expected}`);
    expect(said[0]).not.toContain("PRIVATE KEY-----");
  });
});

test("service.tls beside plain addresses alone is refused: it would protect nothing", () => {
  const plain = withService
    .replace(/https:/g, "http:")
    .replace(/wss:/g, "ws:")
    .replace("TLS", "{}");
  expect(problemsOf(plain)).toEqual([expect.stringContaining("service.tls: ")]);
  expect(problemsOf(withService.replace("TLS", "{}"))).toEqual([]);
});

test.skipIf(!hasOpenssl)("a pair that belongs together is taken as it is (skipped without openssl)", () => {
  const pki = makePki();
  const files = { ca: pki.ca + ca, cert: pki.client.cert + pki.ca, key: pki.client.key };
  const tls = { ca: files.ca.trimEnd(), cert: files.cert.trimEnd(), key: files.key.trimEnd() };
  const all = "{ ca_file: ca, cert_file: cert, key_file: key }";
  const config = (text: string) => configOf(text.replace("TLS", all), {}, read(files));
  expect(config(withService).service.tls).toEqual(tls);
  expect(config(withMail).smtp?.tls).toEqual(tls);
  expect(config(withRedis).redis.tls).toEqual(tls);
});
