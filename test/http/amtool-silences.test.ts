/** Alertmanager's own command line makes, changes, ends and imports silences here. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { amtoolAt, testWithAmtool } from "../support/amtool.ts";
import { temporaryDirectory } from "../support/directory.ts";
import { anAccess, serve } from "./serve.ts";
import { holdsInMemory } from "./silences.ts";

async function open() {
  const clock = { now: () => Date.now() };
  const token = { name: "amtool", token: "s3cret", scopes: ["read", "silence"] } as const;
  const access = anAccess({ tokens: [token] });
  const { address } = await serve({ ...holdsInMemory(clock).deps, access, clock });
  const run = await amtoolAt(address, "s3cret");
  const query = async (...args: string[]) =>
    JSON.parse(await run("silence", "query", "-o", "json", ...args)) as {
      id: string;
      comment: string;
      endsAt: string;
    }[];
  return { run, query };
}

testWithAmtool("amtool adds, queries, updates and expires a silence", async () => {
  const { run, query } = await open();
  const id = await run(
    "silence",
    "add",
    "alertname=RecordingOffline",
    'location=~"Leeds.*"',
    "--duration=2h",
    "--comment=rewiring",
    "--author=dana",
  );
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  expect(await query("alertname=RecordingOffline")).toMatchObject([
    {
      id,
      createdBy: "dana",
      comment: "rewiring",
      status: { state: "active" },
      matchers: [{ name: "alertname" }, { name: "location", isRegex: true }],
    },
  ]);
  const [before] = await query();
  await run("silence", "update", "--duration=4h", "--comment=longer", id);
  const [after] = await query();
  expect(after).toMatchObject({ id, comment: "longer" });
  expect(Date.parse(after?.endsAt ?? "")).toBeGreaterThan(Date.parse(before?.endsAt ?? ""));
  await run("silence", "expire", id);
  expect(await query()).toEqual([]);
  expect(await query("--expired")).toMatchObject([{ id, status: { state: "expired" } }]);
});

testWithAmtool("amtool imports what it exported, over one that is there and anew where it is not", async () => {
  const { run, query } = await open();
  await run("silence", "add", "a=b", "--duration=1h", "--comment=first", "--author=dana");
  const file = join(await temporaryDirectory(), "silences.json");
  await writeFile(file, await run("silence", "query", "-o", "json"));
  await run("silence", "import", file);
  expect(await query()).toHaveLength(1);
  const elsewhere = await open();
  await elsewhere.run("silence", "import", file);
  expect(await elsewhere.query()).toMatchObject([{ comment: "first" }]);
});

testWithAmtool("amtool is told why where it may not", async () => {
  const amtool = await amtoolAt((await serve()).address);
  await expect(amtool("silence", "add", "a=b", "--comment=x", "--author=y")).rejects.toMatchObject({ code: 1 });
});
