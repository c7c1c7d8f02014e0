import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { hashSync } from "bcryptjs";
import { expect } from "vitest";
import { amtool, testWithAmtool } from "../support/amtool.ts";
import { temporaryDirectory } from "../support/directory.ts";
import { hasOpenssl, makePki } from "../support/pki.ts";
import { firingAlert, serve } from "./serve.ts";

/** A server with TLS that a certificate or a login opens, and the files of its clients. */
async function serveClients(differing: Parameters<typeof serve>[0]) {
  const dir = await temporaryDirectory();
  const at = (name: string) => join(dir, name);
  const { ca, server, client } = makePki();
  for (const [name, text] of Object.entries({ ca, ...client })) writeFileSync(at(`${name}.pem`), text);
  const options = { ...server, ca, minVersion: "TLSv1.2", maxVersion: "TLSv1.3", honorCipherOrder: true } as const;
  const clientAuth = { ask: true, need: false, verify: true } as const;
  const users = { alice: hashSync("hunter2", 4) };
  const web = { tls: { options, clientAuth, allowedSans: [] }, users, headers: {} };
  const served = await serve({ readToken: "read-me-and-nothing", web, ...differing });
  return { ...served, at };
}

testWithAmtool("amtool with a login lists alerts, and without one or the authority does not", async ({ skip }) => {
  skip(!hasOpenssl, "openssl is not installed");
  const alert = firingAlert("RecordingOffline");
  const { address, at } = await serveClients({ alerts: async () => [{ alert, receivers: ["ops"] }] });
  const ask = (http: object) => {
    writeFileSync(at("http.yml"), JSON.stringify(http));
    return amtool(`--alertmanager.url=${address}`, `--http.config.file=${at("http.yml")}`, "alert", "query");
  };
  const basic_auth = { username: "alice", password: "hunter2" };
  const tls_config = { ca_file: at("ca.pem") };
  expect(await ask({ basic_auth, tls_config })).toContain("RecordingOffline");
  expect(await ask({ tls_config: { ...tls_config, cert_file: at("cert.pem"), key_file: at("key.pem") } })).toContain(
    "RecordingOffline",
  );
  await expect(ask({ tls_config })).rejects.toThrow(/401|[Uu]nauthorized/);
  await expect(ask({ basic_auth })).rejects.toThrow(/x509|certificate/);
});
