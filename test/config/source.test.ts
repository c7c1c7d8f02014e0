import { mkdtemp, rm, unlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ConfigError } from "../../src/config/problem.ts";
import { createConfigSource } from "../../src/config/source.ts";

const text = (secret: string) => `
service:
  { base_url: "http://a.example", ws_url: "ws://a.example", auth_url: "http://a.example", client_id: id,
    client_secret_file: ${secret}, audience: x }
receivers: [ { name: ops } ]
`;

async function source() {
  const dir = await mkdtemp(join(tmpdir(), "lenswatch-source-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const at = (name: string) => join(dir, name);
  await writeFile(at("lenswatch.yaml"), text("secret"));
  await writeFile(at("secret"), "first\n");
  return { at, ...createConfigSource(at("lenswatch.yaml"), {}) };
}

test("what holds the same is the same, whatever its times say", async () => {
  const { at, load, contentHash, loadedHash } = await source();
  expect((await load()).config.service.clientSecret).toBe("first");
  expect(await contentHash()).toBe(loadedHash());
  await utimes(at("lenswatch.yaml"), 1, 1);
  await writeFile(at("secret"), "first\n");
  expect(await contentHash()).toBe(loadedHash());
});

test("a secret's file counts as the configuration's own, also one named only now", async () => {
  const { at, load, contentHash, loadedHash } = await source();
  await load();
  await writeFile(at("secret"), "second\n");
  expect(await contentHash()).not.toBe(loadedHash());
  await writeFile(at("lenswatch.yaml"), text("other"));
  await writeFile(at("other"), "third");
  expect((await load()).config.service.clientSecret).toBe("third");
  expect(await contentHash()).toBe(loadedHash());
  await writeFile(at("secret"), "nobody reads this any more");
  expect(await contentHash()).toBe(loadedHash());
  await writeFile(at("other"), "fourth");
  expect(await contentHash()).not.toBe(loadedHash());
});

test("a bad configuration is news once, a missing file too", async () => {
  const { at, load, contentHash, loadedHash } = await source();
  await load();
  await writeFile(at("lenswatch.yaml"), "receivers: [ { nam: ops } ]");
  expect(await contentHash()).not.toBe(loadedHash());
  await expect(load()).rejects.toThrow(ConfigError);
  expect(await contentHash()).toBe(loadedHash());
  await unlink(at("lenswatch.yaml"));
  expect(await contentHash()).not.toBe(loadedHash());
  await expect(load()).rejects.toMatchObject({ code: "not_found" });
  expect(await contentHash()).toBe(loadedHash());
});
