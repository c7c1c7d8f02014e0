import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openInBrowser } from "../../../src/commands/digest.ts";

async function directory(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "lenswatch-open-"));
  onTestFinished(() => rm(dir, { recursive: true }));
  return dir;
}

test.skipIf(process.platform === "win32")("a file is given to $BROWSER as a URL", async () => {
  const dir = await directory();
  const browser = join(dir, "browser");
  await writeFile(browser, `#!/bin/sh\nprintf %s "$1" > "${dir}/opened"\n`, { mode: 0o755 });
  const env = { PATH: process.env.PATH, BROWSER: browser };
  expect(await openInBrowser(join(dir, "a digest.html"), env, "linux")).toBe(true);
  expect(await readFile(join(dir, "opened"), "utf8")).toBe(`file://${dir}/a%20digest.html`);
});

test("where no browser is to be had, it says so", async () => {
  const dir = await directory();
  const env = { PATH: dir, BROWSER: join(dir, "none") };
  expect(await openInBrowser(join(dir, "digest.html"), env, "linux")).toBe(false);
});
