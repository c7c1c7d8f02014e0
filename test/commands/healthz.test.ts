import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { receivers, service } from "../config/text.ts";
import { lenswatch } from "./run-command.ts";

test("is exit code 0 with a healthy daemon, whatever its external URL", async () => {
  const asked: string[] = [];
  const port = await serve(200, asked);
  const file = await configFile(`http: { listen: "0.0.0.0:${port}", external_url: https://elsewhere.example }\n`);
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

async function serve(status: number, asked: string[] = []): Promise<number> {
  const server = createServer(({ method, url }, response) => {
    asked.push(`${method} ${url}`);
    response.writeHead(status).end();
  });
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
