import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chart } from "../../.ci/config-schema.ts";
import { findRedisServer } from "../../src/redis-embedded/launch.ts";
import { temporaryDirectory } from "../support/directory.ts";
import { at, find, helm, kube, lacks, type Manifest, manifestsIn, render } from "./render.ts";

const missing = lacks("helm", "version");
const redisServer = await findRedisServer(process.env);
const [redisSecret, tokensSecret] = ["watch-lenswatch-redis", "watch-lenswatch-tokens"];

describe.skipIf(missing)(`the chart's secrets${missing ? ` (${missing})` : ""}`, () => {
  let manifests: Manifest[];
  let cluster: Awaited<ReturnType<typeof startCluster>>;
  beforeAll(async () => {
    manifests = await render("small", "serviceMonitor.enabled=true");
    cluster = await startCluster();
  });
  afterAll(() => cluster.close());

  test("are a password and two tokens, long, random and all different, where none are given", async () => {
    const made = [manifests, await render("small")].flatMap((all) => {
      const { password } = secretData(all, redisSecret);
      const { "admin-token": admin, "read-token": read, ...more } = secretData(all, tokensSecret);
      expect(more).toEqual({});
      return [password, admin, read];
    });
    expect(new Set(made).size).toBe(6);
    for (const one of made) expect(one).toMatch(/^[A-Za-z0-9]{40}$/);
  });

  test("are lenswatch's by variable and file, and Prometheus' by reference", () => {
    const container = at(find(manifests, "Deployment", "watch-lenswatch"), "spec.template.spec.containers.0");
    expect(at(container, "env")).toContainEqual({
      name: "LENSWATCH_REDIS_PASSWORD",
      valueFrom: { secretKeyRef: { name: redisSecret, key: "password" } },
    });
    const mounted = { name: `secret-${tokensSecret}`, mountPath: `/etc/lenswatch-secrets/${tokensSecret}` };
    expect(at(container, "volumeMounts")).toContainEqual({ ...mounted, readOnly: true });
    for (const name of ["admin", "read"])
      expect(configOf(manifests)).toContain(`${name}_token_file: ${mounted.mountPath}/${name}-token`);
    const monitor = find(manifests, "ServiceMonitor", "watch-lenswatch");
    expect(at(monitor, "spec.endpoints.0.authorization.credentials")).toEqual({
      name: tokensSecret,
      key: "read-token",
    });
  });

  test.skipIf(!redisServer)("close Redis to those without the password (skipped without redis-server)", async () => {
    const { password = "", "users.acl": users = "" } = secretData(manifests, redisSecret);
    expect(users).toContain(createHash("sha256").update(password).digest("hex"));
    const directory = await temporaryDirectory();
    const socket = join(directory, "socket");
    const conf = String(Object.values(find(manifests, "ConfigMap", redisSecret).data as object))
      .replace("dir /data", `dir ${directory}\nport 0\nunixsocket ${socket}`)
      .replace("/etc/redis-auth", directory);
    await writeFile(join(directory, "users.acl"), users);
    await writeFile(join(directory, "redis.conf"), conf);
    expect(await answers(join(directory, "redis.conf"), socket, [undefined, "wrong", password])).toEqual([
      expect.stringMatching(/^NOAUTH/),
      expect.stringMatching(/^WRONGPASS/),
      "PONG",
    ]);
  });

  test("stay as they are over an upgrade, and a token that is missing is added", async () => {
    const before = {
      [redisSecret]: { password: "old", "users.acl": "old users" },
      [tokensSecret]: { "admin-token": "old" },
    };
    const after = manifestsIn(await cluster.upgrade(before));
    expect(secretData(after, redisSecret)).toEqual(before[redisSecret]);
    expect(secretData(after, tokensSecret)).toEqual({
      "admin-token": "old",
      "read-token": expect.stringMatching(/^\w{40}$/),
    });
    const pods = (all: Manifest[]) => at(find(all, "StatefulSet", redisSecret), "spec.template.metadata.annotations");
    expect(pods(after)).toEqual(pods(manifests));
  });

  test("of a password cannot be changed under a Redis that runs with the old one", () => {
    expect(find(manifests, "Secret", redisSecret)).toMatchObject({ immutable: true });
  });

  test("are those that are given instead", async () => {
    const own = await render("small", "redis.existingSecret=mine", "tokens.existingSecret=yours");
    expect(own.map(({ kind }) => kind)).not.toContain("Secret");
    expect(configOf(own)).toContain("read_token_file: /etc/lenswatch-secrets/yours/read-token");
    const redis = at(find(own, "StatefulSet", redisSecret), "spec.template.spec.volumes");
    expect(JSON.stringify(redis)).toContain('"secretName":"mine"');
  });

  test.each([
    ["an admin token", ["config.http.admin_token_file=/x"], ["read"]],
    ["both tokens", ["config.http.admin_token_file=/x", "config.http.read_token_file=/y"], []],
    ["reading that is open on purpose", ["config.http.allow_anonymous=true"], ["admin"]],
    ["tokens with both scopes", [...named("a", "{admin,read}")], []],
    ["a token for reading under another name", [...named("a", "read")], ["admin"]],
  ])("are added only where the configuration lacks them, with %s in it", async (_, set, added) => {
    const all = await render("small", ...set, "serviceMonitor.enabled=true");
    const tokens = all.filter(({ kind, metadata }) => kind === "Secret" && metadata.name === tokensSecret);
    expect(tokens.flatMap(({ data }) => Object.keys(data as object))).toEqual(added.map((name) => `${name}-token`));
    expect([...configOf(all).matchAll(/(\w+)_token_file: \/etc/g)].map(([, name]) => name)).toEqual(added);
    const monitor = find(all, "ServiceMonitor", "watch-lenswatch");
    expect(at(monitor, "spec.endpoints.0.authorization") !== undefined).toBe(added.includes("read"));
  });

  test("are left to a ConfigMap of the user's own", async () => {
    const own = await render("small", "existingConfigMap=mine");
    expect(own.filter(({ kind }) => kind === "Secret").map(({ metadata }) => metadata.name)).toEqual([redisSecret]);
  });
});

function named(name: string, scopes: string): string[] {
  const at = "config.http.tokens[0]";
  return [`${at}.name=${name}`, `${at}.token_file=/x`, `${at}.scopes=${scopes}`];
}

type Secrets = Readonly<Record<string, Readonly<Record<string, string>>>>;

function secretData(manifests: readonly Manifest[], name: string): Record<string, string> {
  const data = find(manifests, "Secret", name).data as Record<string, string>;
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]));
}

function configOf(manifests: readonly Manifest[]): string {
  return String(Object.values(at(find(manifests, "ConfigMap", "watch-lenswatch"), "data") ?? {})[0]);
}

/** What a Redis with that configuration says to PING with each of the passwords. */
async function answers(conf: string, socket: string, passwords: readonly (string | undefined)[]): Promise<string[]> {
  const server = spawn(redisServer ?? "", [conf], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(server, "exit");
  try {
    for await (const line of server.stdout) if (/ready to accept/i.test(String(line))) break;
    return await Promise.all(passwords.map((password) => ping(socket, password)));
  } finally {
    server.kill("SIGKILL");
    await ended;
  }
}

async function ping(path: string, password: string | undefined): Promise<string> {
  const redis = new Redis({ path, password, lazyConnect: true, enableReadyCheck: false, retryStrategy: () => null });
  redis.on("error", () => {});
  try {
    return await redis.ping();
  } catch (thrown) {
    return (thrown as Error).message;
  } finally {
    redis.disconnect();
  }
}

/** As much of Kubernetes' API as helm needs to look a Secret up. */
async function startCluster() {
  let secrets: Secrets = {};
  const server = createServer(({ url = "" }, response) => {
    const body = answerOf(new URL(url, "http://cluster").pathname, secrets);
    response.writeHead(body ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(body ?? { kind: "Status", apiVersion: "v1", reason: "NotFound", code: 404 }));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const api = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  // Helm 3 asks this server for the Secrets only, not for its version.
  const lookUp = ["--dry-run=server", "--disable-openapi-validation", "--kube-apiserver", api, ...kube];
  return {
    /** The manifests where those Secrets are there already. */
    upgrade(there: Secrets): Promise<string> {
      secrets = there;
      const values = ["--namespace", "cameras", "--values", `${chart}/ci/small-values.yaml`];
      return helm("template", "watch", chart, ...values, ...lookUp);
    },
    close: () => server.close(),
  };
}

const served: Readonly<Record<string, readonly string[]>> = {
  v1: ["ServiceAccount", "Secret", "ConfigMap", "Service", "Pod"],
  "apps/v1": ["Deployment", "StatefulSet"],
  "policy/v1": ["PodDisruptionBudget"],
  "networking.k8s.io/v1": ["NetworkPolicy"],
};

function answerOf(path: string, secrets: Secrets): object | undefined {
  if (path === "/version") return { major: "1", minor: "34", gitVersion: "v1.34.0" };
  if (path === "/api") return { kind: "APIVersions", versions: ["v1"] };
  if (path === "/apis")
    return { kind: "APIGroupList", apiVersion: "v1", groups: Object.keys(served).slice(1).map(group) };
  const groupVersion = path.replace(/^\/apis?\//, "");
  const kinds = served[groupVersion];
  if (kinds) return { kind: "APIResourceList", groupVersion, resources: kinds.map(resource) };
  const [, name = ""] = /\/namespaces\/cameras\/secrets\/(.+)$/.exec(path) ?? [];
  const data = Object.entries(secrets[name] ?? {}).map(([key, text]) => [key, Buffer.from(text).toString("base64")]);
  if (data.length === 0) return undefined;
  return { apiVersion: "v1", kind: "Secret", metadata: { name, ...ofTheRelease }, data: Object.fromEntries(data) };
}

const ofTheRelease = {
  labels: { "app.kubernetes.io/managed-by": "Helm" },
  annotations: { "meta.helm.sh/release-name": "watch", "meta.helm.sh/release-namespace": "cameras" },
};

function group(groupVersion: string) {
  const version = { groupVersion, version: "v1" };
  return { name: groupVersion.split("/")[0], versions: [version], preferredVersion: version };
}

function resource(kind: string) {
  const name = `${kind.toLowerCase().replace(/y$/, "ie")}s`;
  return { name, kind, namespaced: true, verbs: ["get"] };
}
