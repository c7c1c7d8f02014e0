import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer, type ServerOptions } from "node:https";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { freePort } from "../../src/lib/free-port.ts";
import { receivers, service } from "../config/text.ts";
import { hasOpenssl, makePki } from "../support/pki.ts";
import { configuration, lenswatch } from "./run-command.ts";

const healthy = { stdout: "alive\n", stderr: "", exitCode: 0 };

async function serve(status: number, tls?: ServerOptions): Promise<number> {
  const answer: RequestListener = ({ url }, response) => response.writeHead(url === "/healthz" ? status : 404).end();
  const server = tls ? createTlsServer(tls, answer) : createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

const healthz = async (more: string, env = {}) =>
  lenswatch(["healthz", "--config", await configuration(service + receivers + more)], env);

test("is exit code 1 with an unhealthy daemon, 3 where nothing listens", async () => {
  const port = await serve(500);
  const stderr = `lenswatch: http://127.0.0.1:${port}/healthz answers 500; see the daemon's log\n`;
  expect(await healthz(`http: { listen: "127.0.0.1:${port}" }\n`)).toEqual({ stdout: "", stderr, exitCode: 1 });
  const nothing = await healthz(`http: { listen: "127.0.0.1:${await freePort(0)}" }\n`);
  expect([nothing.exitCode, nothing.stderr]).toEqual([
    3,
    expect.stringMatching(/does not answer \(.*ECONNREFUSED.*\)/),
  ]);
});

test.each<[string, (port: number) => string]>([
  [
    "listens at all addresses",
    (port) => `{ listen: "0.0.0.0:${port}", allow_anonymous: true, external_url: https://elsewhere.example }`,
  ],
  ["has a listener for metrics and probes", (port) => `{ listen: "127.0.0.1:1", metrics_listen: "127.0.0.1:${port}" }`],
  ["has problems", (port) => `{ listen: "127.0.0.1:${port}" }\nrules: 7\nunknown_key: x`],
  [
    "needs variables and files that are not there",
    (port) => `{ listen: "127.0.0.1:${port}", read_token: "\${UNSET}", admin_token_file: /nowhere }`,
  ],
  ["is no valid YAML", (port) => `{ listen: "127.0.0.1:${port}" }\nrules: [unclosed\n\tx: "`],
])("finds the daemon, which runs with what it loaded before, where the file %s", async (_, http) => {
  expect(await healthz(`http: ${http(await serve(200))}\n`)).toEqual(healthy);
});

test("finds it by LENSWATCH_LISTEN where the file is gone, or says nothing of it", async () => {
  const env = { LENSWATCH_LISTEN: `:${await serve(200)}` };
  expect(await lenswatch(["healthz", "--config", "/nowhere"], env)).toEqual(healthy);
  expect(await healthz("http: { listen: nonsense }\n", env)).toEqual(healthy);
});

test.skipIf(!hasOpenssl).each([
  ["by TLS, whatever the certificate's name", () => makePki().elsewhere],
  ["without TLS where there is none", () => undefined],
])("asks %s, with http.tls (skipped without openssl)", async (_, options) => {
  const port = await serve(200, options());
  const tls = "{ cert_file: cert.pem, key_file: key.pem }";
  expect(await healthz(`http: { listen: "127.0.0.1:${port}", tls: ${tls} }\n`)).toEqual(healthy);
});
