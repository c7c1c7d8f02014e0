import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { copyFile, mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { parseConfig } from "../../src/config/load.ts";
import { findRedisServer } from "../../src/redis-embedded/launch.ts";
import { hasPromtool, promtool } from "../prometheus/promtool.ts";
import { temporaryDirectory } from "../support/directory.ts";

const root = resolve(import.meta.dirname, "../..");
const folder = resolve(root, "config");
const read = (path: string) => readFileSync(resolve(folder, path), "utf8");
const text = read("compose.yaml");

interface Service {
  readonly image: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly networks?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly [key: string]: unknown;
}

const filledIn = { ...variablesIn(read("compose/example.env")), ...values() };
const raw = parse(text, { merge: true });
const project: { services: Record<string, Service>; volumes: object; networks: Record<string, object> } = parse(
  interpolate(text, filledIn),
  { merge: true },
);
const services = Object.entries(project.services);

describe("compose.yaml", () => {
  // The schema is schema/compose-spec.json of compose-spec/compose-spec at 170098b (Apache-2.0), without white space.
  test("fits the schema of the Compose specification, as it is and filled in", () => {
    const schema = JSON.parse(readFileSync(resolve(import.meta.dirname, "compose-spec.json"), "utf8"));
    const check = new Ajv({ strict: false, allErrors: true, validateFormats: false, validateSchema: false }).compile({
      ...schema,
      $schema: undefined,
    });
    for (const one of [raw, project]) expect(check(one), JSON.stringify(check.errors)).toBe(true);
    expect(check({ ...project, services: { redis: { imag: "x" } } })).toBe(false);
  });

  test("does not start without its variables, and says what to do", () => {
    expect(() => interpolate(text, {})).toThrow(/LENSWATCH_\w+: copy compose\/example\.env to \.env and fill it in/);
    expect(existsSync(resolve(folder, "compose/example.env"))).toBe(true);
  });

  test("names the variables that the example of .env explains, required or with the same default", () => {
    const example = read("compose/example.env");
    const required = [...text.matchAll(/[^$]\$\{(\w+):\?/g)].map(([, name]) => name);
    expect([...new Set(required)].sort()).toEqual(Object.keys(variablesIn(example)).sort());
    const defaults = [...text.matchAll(/[^$]\$\{(\w+):-([^}]*)\}/g)].map(([, name, value]) => `# ${name}=${value}`);
    expect(
      example
        .split("\n")
        .filter((line) => line.startsWith("# LENSWATCH_"))
        .sort(),
    ).toEqual(defaults.sort());
  });

  test("has its secrets in a file that neither Git nor the image nor the package takes", () => {
    expect(read(".gitignore").split("\n")).toContain(".env");
    const seen = readFileSync(resolve(root, ".dockerignore"), "utf8").split("\n");
    expect(seen.indexOf("config/.env")).toBeGreaterThan(seen.indexOf("!config"));
    for (const [name, { entrypoint = [], command = [], healthcheck }] of services) {
      const started = [...entrypoint, ...command, ...(healthcheck?.test ?? [])].join(" ");
      for (const secret of Object.values(values())) expect(started, name).not.toContain(secret);
    }
  });

  test("mounts and builds what is there, read-only, and declares its volumes", () => {
    const mounts = services.flatMap(([, { volumes = [] }]) => volumes.map((volume) => volume.split(":")));
    expect(mounts.length).toBeGreaterThan(6);
    for (const [source = "", target, mode] of mounts) {
      if (!source.startsWith(".")) expect(Object.keys(project.volumes)).toContain(source);
      else {
        expect(existsSync(resolve(folder, source)), source).toBe(true);
        expect(mode, target).toBe("ro");
      }
    }
    expect(existsSync(resolve(folder, String(project.services.lenswatch?.build), "Dockerfile"))).toBe(true);
  });

  test.each(services)("gives %s no privilege, no writable root and no port to other machines", (name, service) => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges:true"],
      restart: "unless-stopped",
    });
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
    // The image of lenswatch has its own.
    if (name !== "lenswatch") expect(service.healthcheck?.test[0]).toBe("CMD");
  });

  test("starts lenswatch and Redis by itself, and lets only lenswatch reach Redis", () => {
    const always = services.filter(([, { profiles }]) => profiles === undefined).map(([name]) => name);
    expect(always).toEqual(["lenswatch", "redis"]);
    expect(project.networks.store).toEqual({ internal: true });
    expect(services.filter(([, { networks }]) => networks?.includes("store")).map(([name]) => name)).toEqual(always);
    expect(project.services.redis).toMatchObject({ networks: ["store"] });
    expect(project.services.redis?.ports).toBeUndefined();
  });

  test("gives lenswatch a configuration it takes, with the variables it has", () => {
    const { lenswatch, redis } = project.services;
    const env = { ...lenswatch?.environment, LENSWATCH_LISTEN: "0.0.0.0:9595" };
    const parsed = parseConfig(read("compose/lenswatch.yaml"), { file: "lenswatch.yaml", env, readSecret: () => "" });
    expect(parsed).not.toHaveProperty("problems");
    expect(parsed).toMatchObject({
      config: { redis: { url: `redis://:${redis?.environment?.REDISCLI_AUTH}@redis:6379/0` } },
    });
  });

  test.skipIf(!hasPromtool)("gives Prometheus a configuration and rules it takes", async () => {
    const directory = await temporaryDirectory();
    for (const volume of project.services.prometheus?.volumes ?? []) {
      const [source = "", target = ""] = volume.split(":");
      if (!target.startsWith("/etc/prometheus/")) continue;
      await mkdir(join(directory, "etc/prometheus"), { recursive: true });
      await copyFile(resolve(folder, source), join(directory, target));
    }
    const file = join(directory, "etc/prometheus/prometheus.yml");
    const { code, said } = await promtool("check", "config", "--syntax-only", file);
    expect({ code, said }).toEqual({ code: 0, said: expect.stringContaining("SUCCESS") });
    const { rule_files, scrape_configs } = parse(readFileSync(file, "utf8"));
    expect(existsSync(join(directory, "etc/prometheus", rule_files[0]))).toBe(true);
    const token = scrape_configs[0].authorization.credentials_file;
    expect(project.services.prometheus?.command?.join("")).toContain(`> ${token}`);
  });

  test("gives Grafana a data source that is there and the dashboard's folder", () => {
    const [source] = parse(read("compose/grafana-datasources.yaml")).datasources;
    const { hostname, port } = new URL(source.url);
    expect(project.services[hostname]?.ports).toContain(`127.0.0.1:${port}:${port}`);
    const [provider] = parse(read("compose/grafana-dashboards.yaml")).providers;
    const mounted = `./grafana/lenswatch.json:${provider.options.path}/lenswatch.json:ro`;
    expect(project.services.grafana?.volumes).toContain(mounted);
    const home = project.services.grafana?.environment?.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH;
    expect(home).toBe(`${provider.options.path}/lenswatch.json`);
  });
});

const redisServer = await findRedisServer(process.env);
const cli = spawnSync("redis-cli", ["--version"]).status === 0;

test.skipIf(!redisServer || !cli)(
  "its Redis wants the password, which its health check has (skipped without Redis)",
  async () => {
    const directory = await temporaryDirectory();
    const socket = join(directory, "socket");
    const { entrypoint = [], command = [], environment, healthcheck } = project.services.redis ?? ({} as Service);
    const script = (command[0] ?? "")
      .replaceAll("$$", "$")
      .replace("valkey-server", redisServer ?? "")
      .replace("dir /data", `dir ${directory}\nport 0\nunixsocket ${socket}`);
    const env = { ...process.env, ...environment };
    const server = spawn(entrypoint[0] ?? "", [...entrypoint.slice(1), script], {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = once(server, "exit");
    try {
      for await (const line of server.stdout) if (/ready to accept/i.test(String(line))) break;
      const [, , ...ask] = healthcheck?.test ?? [];
      const ping = (REDISCLI_AUTH?: string) =>
        spawnSync("redis-cli", ["-s", socket, ...ask], { env: { ...process.env, REDISCLI_AUTH }, encoding: "utf8" });
      expect(ping(environment?.REDISCLI_AUTH)).toMatchObject({ status: 0, stdout: "PONG\n" });
      expect(ping().status).not.toBe(0);
      // The shell is gone: signals reach Redis, and no command line has the password.
      expect(readFileSync(`/proc/${server.pid}/cmdline`, "utf8")).not.toMatch(/^sh|requirepass/);
    } finally {
      server.kill("SIGKILL");
      await ended;
    }
  },
);

function variablesIn(file: string): Record<string, string> {
  return Object.fromEntries([...file.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = "", value = ""]) => [name, value]));
}

/** What an operator fills in. */
function values(): Record<string, string> {
  const url = (host: string) => `https://${host}.example.com`;
  const random = (letter: string) => letter.repeat(64);
  return {
    LENSWATCH_BASE_URL: url("core"),
    LENSWATCH_WS_URL: "wss://metrics.example.com",
    LENSWATCH_AUTH_URL: url("issuer"),
    LENSWATCH_CLIENT_ID: "an-id",
    LENSWATCH_CLIENT_SECRET: "a-client-secret",
    LENSWATCH_AUDIENCE: url("core"),
    LENSWATCH_SLACK_URL: url("hooks"),
    LENSWATCH_ADMIN_TOKEN: random("a"),
    LENSWATCH_READ_TOKEN: random("b"),
    LENSWATCH_REDIS_PASSWORD: random("c"),
    LENSWATCH_GRAFANA_PASSWORD: random("d"),
  };
}

/** As Compose does: `${NAME:-default}`, `${NAME:?message}`; `$$` stays. Throws the message. */
function interpolate(from: string, variables: Readonly<Record<string, string>>): string {
  return from.replace(/\$\$|\$\{(\w+):([-?])([^}]*)\}/g, (whole, name: string, kind: string, rest: string) => {
    if (whole === "$$") return whole;
    const value = variables[name];
    if (value) return value;
    if (kind === "-") return rest;
    throw new Error(`${name}: ${rest}`);
  });
}
