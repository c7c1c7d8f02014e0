import { execFile, execFileSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { commandTable } from "../src/commands/cli/program.ts";

const root = resolve(import.meta.dirname, "..");
const steps = readFileSync(resolve(root, "Dockerfile"), "utf8")
  .replace(/^\s*#.*\n/gm, "")
  .replace(/\\\n/g, " ")
  .split("\n")
  .filter((line) => line.trim() !== "");
const last = steps.slice(steps.findLastIndex((step) => step.startsWith("FROM ")));
const instruction = (name: string) =>
  last.filter((step) => step.startsWith(`${name} `)).map((step) => step.slice(name.length + 1));

describe("the image", () => {
  test("runs as nobody's root and stops at SIGTERM", () => {
    expect(instruction("USER")).toEqual(["node"]);
    expect(instruction("STOPSIGNAL")).toEqual(["SIGTERM"]);
  });

  test("needs no shell: what it runs is a list, and there is such a command", () => {
    const [entry = "", run = ""] = [...instruction("ENTRYPOINT"), ...instruction("CMD")];
    const check = /CMD (\[.*\])$/.exec(instruction("HEALTHCHECK")[0] ?? "")?.[1] ?? "";
    expect(JSON.parse(entry)).toEqual(["node", "dist/main.js"]);
    const names = commandTable.map(({ name }) => name);
    expect(names).toContain(JSON.parse(run)[0]);
    expect(JSON.parse(check).slice(0, 2)).toEqual(JSON.parse(entry));
    expect(names).toContain(JSON.parse(check)[2]);
    expect(last.filter((step) => step.startsWith("RUN"))).toEqual([]);
  });

  test("copies what is there and what the build may see", () => {
    const seen = readFileSync(resolve(root, ".dockerignore"), "utf8").split("\n");
    const copied = steps
      .filter((step) => step.startsWith("COPY ") && !step.includes("--from"))
      .flatMap((step) => step.split(/\s+/).slice(1, -1));
    expect(copied).toContain("src");
    for (const path of copied) {
      expect(existsSync(resolve(root, path)), path).toBe(true);
      expect(seen).toContain(`!${path}`);
    }
  });

  test("has the settings of memory that a systemd service has, and Node knows them", () => {
    const unit = readFileSync(resolve(root, "config/lenswatch.service"), "utf8");
    const settings = /NODE_OPTIONS=(?<node>\S+).*(?<malloc>MALLOC_ARENA_MAX=\d+)/s;
    const [image, service] = [settings.exec(instruction("ENV").join(" ")), settings.exec(unit)];
    expect(image?.groups).toEqual({ ...service?.groups });
    const env = { ...process.env, NODE_OPTIONS: image?.groups?.node };
    const heap = "v8.getHeapSpaceStatistics().length";
    expect(Number(execFileSync(process.execPath, ["-p", heap], { env, encoding: "utf8" }))).toBeGreaterThan(0);
  });

  test("holds neither development packages nor install scripts", () => {
    expect(steps.find((step) => step.includes("npm ci"))).toMatch(/--omit=dev --ignore-scripts/);
  });
});

describe("the base of the image", () => {
  const PINNED = /^FROM node:(?<version>[\d.]+)-bookworm-slim@sha256:[0-9a-f]{64} AS base$/;

  test("is pinned by its digest, and its Node is one that is tested", () => {
    const [base = "", ...others] = steps.filter((step) => step.startsWith("FROM "));
    expect(base).toMatch(PINNED);
    expect(others).toEqual(["FROM base AS packages", "FROM base AS compiled", "FROM base"]);
    const tested = process.versions.node.split(".")[0];
    expect(PINNED.exec(base)?.groups?.version?.split(".")[0]).toBe(tested);
  });

  async function renew(answer: RequestListener) {
    const dir = mkdtempSync(join(tmpdir(), "lenswatch-base-"));
    onTestFinished(() => rmSync(dir, { recursive: true }));
    const DOCKERFILE = join(dir, "Dockerfile");
    copyFileSync(resolve(root, "Dockerfile"), DOCKERFILE);
    const server = createServer(answer).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const env = { AUTH_URL: url, REGISTRY_URL: url, DOCKERFILE };
    const ran = await promisify(execFile)(process.execPath, [resolve(root, ".ci/renew-base.ts"), "26.99.1"], {
      env,
    }).then(
      () => "",
      ({ stderr }: { stderr: string }) => stderr,
    );
    return { failure: ran, dockerfile: readFileSync(DOCKERFILE, "utf8") };
  }

  const digest = `sha256:${"5e".repeat(32)}`;
  const registry =
    (named: string): RequestListener =>
    ({ url = "", headers }, response) => {
      if (url.startsWith("/token?")) return response.end(JSON.stringify({ token: "pull" }));
      const known =
        url === "/v2/library/node/manifests/26.99.1-bookworm-slim" && headers.authorization === "Bearer pull";
      response.writeHead(known ? 200 : 404, { "docker-content-digest": named }).end();
    };

  test("is renewed with the digest that the registry names", async () => {
    const { failure, dockerfile } = await renew(registry(digest));
    expect(failure).toBe("");
    const old = readFileSync(resolve(root, "Dockerfile"), "utf8");
    expect(dockerfile).toBe(old.replace(/node:\S+ AS base/, `node:26.99.1-bookworm-slim@${digest} AS base`));
  });

  test.each([
    ["names no digest", registry("")],
    ["refuses", ((_, response) => response.writeHead(401).end()) satisfies RequestListener],
  ] as const)("stays as it is where the registry %s", async (_, answer) => {
    const { failure, dockerfile } = await renew(answer);
    expect(failure).toContain("node:26.99.1-bookworm-slim");
    expect(dockerfile).toBe(readFileSync(resolve(root, "Dockerfile"), "utf8"));
  });
});
