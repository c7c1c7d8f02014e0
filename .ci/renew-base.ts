/**
 * Pins the Dockerfile to a Node image by the digest that Docker Hub has for it now: `npm run renew-base -- [VERSION]`, by
 * default the version of Node that the tests run with.
 */
import { readFileSync, writeFileSync } from "node:fs";

const { AUTH_URL = "https://auth.docker.io", REGISTRY_URL = "https://registry-1.docker.io" } = process.env;
const { DOCKERFILE = new URL("../Dockerfile", import.meta.url).pathname } = process.env;
const FROM = /^FROM node:\S+ AS base$/m;
const tag = `${process.argv[2] ?? process.versions.node}-bookworm-slim`;

async function ask(url: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(30_000) });
  if (!response.ok) throw new Error(`${new URL(url).host} answers ${response.status} for node:${tag}`);
  return response;
}

const scope = "repository:library/node:pull";
const granted = await ask(`${AUTH_URL}/token?service=registry.docker.io&scope=${scope}`);
const { token } = (await granted.json()) as { token: string };
// The index of all platforms, not the manifest of one.
const accept = "application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json";
const headers = { authorization: `Bearer ${token}`, accept };
const manifest = await ask(`${REGISTRY_URL}/v2/library/node/manifests/${tag}`, { method: "HEAD", headers });
const digest = manifest.headers.get("docker-content-digest") ?? "";
if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw new Error(`the registry names no digest for node:${tag}`);
const dockerfile = readFileSync(DOCKERFILE, "utf8");
if (!FROM.test(dockerfile)) throw new Error("the Dockerfile has no line FROM node:… AS base");
writeFileSync(DOCKERFILE, dockerfile.replace(FROM, `FROM node:${tag}@${digest} AS base`));
process.stdout.write(`node:${tag}@${digest}\n`);
