import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer, type ServerOptions } from "node:https";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { receivers, service } from "../config/text.ts";
import { hasOpenssl, makePki } from "../support/pki.ts";
import { lenswatch } from "./run-command.ts";

test("is exit code 0 with a healthy daemon, whatever its external URL", async () => {
  const asked: string[] = [];
  const port = await serve(200, asked);
  const file = await configFile(
    `http: { listen: "0.0.0.0:${port}", allow_anonymous: true, external_url: https://elsewhere.example }\n`,
  );
  expect(await lenswatch(["healthz", "--config", file])).toEqual({ stdout: "alive\n", stderr: "", exitCode: 0 });
  expect(asked).toEqual(["GET /healthz"]);
});

test("is exit code 1 with an unhealthy daemon", async () => {
  const port = await serve(500);
  const file = await configFile(`http: { listen: "127.0.0.1:${port}" }\n`);
  const { stderr, exitCode } = await lenswatch(["healthz", "--config", file]);
  expect({ stderr, exitCode }).toEqual({
    stderr: `lenswatch: http://127.0.0.1:${port}/healthz answers 500; see the daemon's log\n`,
    exitCode: 1,
  });
});

test("is exit code 3 where nothing listens", async () => {
  const file = await configFile(`http: { listen: "127.0.0.1:${await freePort()}" }\n`);
  const { stderr, exitCode } = await lenswatch(["healthz", "--config", file]);
  expect(stderr).toMatch(/does not answer \(.*ECONNREFUSED.*\)/);
  expect(exitCode).toBe(3);
});

describe("finds the daemon, which runs with what it loaded before, where the file", () => {
  const listening = (port: number) => `http: { listen: "127.0.0.1:${port}" }\n`;

  test.each([
    ["has problems", (port: number) => `${listening(port)}rules: 7\nunknown_key: x\n`],
    [
      "needs variables and files that are not there",
      (port: number) => {
        const secrets = `read_token: "\${UNSET}", admin_token_file: /nowhere`;
        return `http: { listen: "127.0.0.1:${port}", ${secrets} }\n`;
      },
    ],
    ["is no valid YAML", (port: number) => `${listening(port)}rules: [unclosed\n\tx: "`],
  ])("%s", async (_, more) => {
    const file = await configFile(more(await serve(200)));
    expect(await lenswatch(["healthz", "--config", file])).toEqual({ stdout: "alive\n", stderr: "", exitCode: 0 });
  });

  test("is gone, or says nothing of it, by LENSWATCH_LISTEN", async () => {
    const env = { LENSWATCH_LISTEN: `:${await serve(200)}` };
    expect(await lenswatch(["healthz", "--config", "/nowhere"], env)).toMatchObject({ exitCode: 0 });
    const file = await configFile("http: { listen: nonsense }\n");
    expect(await lenswatch(["healthz", "--config", file], env)).toMatchObject({ exitCode: 0 });
  });

  test("has a listener for metrics and probes, there", async () => {
    const http = `{ listen: "127.0.0.1:${await freePort()}", metrics_listen: "127.0.0.1:${await serve(200)}" }`;
    expect(await lenswatch(["healthz", "--config", await configFile(`http: ${http}\n`)])).toMatchObject({
      exitCode: 0,
    });
  });
});

describe.skipIf(!hasOpenssl)("with http.tls (skipped without openssl)", () => {
  const pki = hasOpenssl ? makePki() : undefined;
  const withTls = (port: number) =>
    configFile(`http: { listen: "127.0.0.1:${port}", tls: { cert_file: cert.pem, key_file: key.pem } }\n`);

  test.each([
    ["asks by TLS, whatever the certificate's name", () => pki?.elsewhere],
    ["asks without TLS where there is none", () => undefined],
  ])("%s", async (_, options) => {
    const file = await withTls(await serve(200, [], options()));
    expect(await lenswatch(["healthz", "--config", file])).toEqual({ stdout: "alive\n", stderr: "", exitCode: 0 });
  });
});

async function serve(status: number, asked: string[] = [], tls?: ServerOptions): Promise<number> {
  const answer: RequestListener = ({ method, url }, response) => {
    asked.push(`${method} ${url}`);
    response.writeHead(status).end();
  };
  const server = tls ? createTlsServer(tls, answer) : createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

async function freePort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function configFile(more: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "lenswatch-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, "lenswatch.yaml");
  await writeFile(file, service + receivers + more);
  return file;
}
