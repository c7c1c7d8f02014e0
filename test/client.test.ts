/** The example of docs/client.md, run as it stands. `.ci/check-package.ts` runs it with the packed package, and its types. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { createServiceClient } from "../src/client.ts";
import { settingsOf } from "../src/commands/simulate.ts";
import { type Simulator, startSimulator } from "../src/simulator/simulator.ts";
import { blocks, firstCells, readPage } from "./support/documents.ts";

const [example = "", figures = ""] = blocks(readPage("docs/client.md"), "ts");

async function startWorld() {
  const simulator = await startSimulator({ locations: 2, recordingsPerLocation: 2, seed: 1 });
  onTestFinished(() => simulator.close());
  return simulator;
}

async function runExample(simulator: Simulator, changed: Record<string, string> = {}, source = example) {
  const dir = await mkdtemp(join(tmpdir(), "lenswatch-client-"));
  onTestFinished(() => rm(dir, { recursive: true }));
  const file = join(dir, "status.mts");
  await writeFile(file, source.replace("lenswatch/client", new URL("../src/client.ts", import.meta.url).href));
  const settings = Object.entries({ ...settingsOf(simulator), ...changed });
  const env = Object.fromEntries(settings.map(([key, value]) => [`LENSWATCH_${key.toUpperCase()}`, value]));
  return promisify(execFile)(process.execPath, [file], { env });
}

test("the documented example prints the status of every recording", async () => {
  const simulator = await startWorld();
  const { stdout, stderr } = await runExample(simulator);
  const expected = simulator.world.recordings.map(({ id, status }) => `${id} ${status}`);
  expect(stdout.trim().split("\n").sort()).toEqual(expected.sort());
  expect(stderr).toBe("");
});

test("the documented example ends with the code and the next step where the secret is wrong", async () => {
  const failed = await runExample(await startWorld(), { client_secret: "wrong" }).catch((thrown: unknown) => thrown);
  expect(failed).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/^auth: .+\n$/) });
});

test("the documented example of figures prints a line for each location, day and age", async () => {
  const { stdout, stderr } = await runExample(await startWorld(), {}, figures);
  const [head, ...lines] = stdout.trim().split("\n");
  expect({ head, stderr }).toEqual({ head: "location,day,age,entries", stderr: "" });
  expect(lines).toHaveLength(2 * 7 * new Set(lines.map((line) => line.split(",")[2])).size);
  expect(lines.filter((line) => !/^[0-9a-f]{24},\d{4}-\d\d-\d\d,\d+_\d+,\d*$/.test(line))).toEqual([]);
});

test("every method of the client is documented", () => {
  const service = createServiceClient({
    baseUrl: "http://a",
    authUrl: "http://a",
    wsUrl: "",
    clientId: "",
    clientSecret: "",
    audience: "",
  });
  expect(firstCells(readPage("docs/client.md"), "Figures").sort()).toEqual(Object.keys(service).sort());
});

test("addresses may end in a slash", async () => {
  const { baseUrl, authUrl, ...rest } = await startWorld();
  const service = createServiceClient({ ...rest, baseUrl: `${baseUrl}/`, authUrl: `${authUrl}//` });
  onTestFinished(() => service.close());
  expect((await service.locations()).locations).toHaveLength(2);
});

test.each(["baseUrl", "authUrl"])("an address that is none is refused by its name: %s", (key) => {
  const urls = { baseUrl: "http://a.example", authUrl: "http://a.example", wsUrl: "ws://a.example" };
  const create = () =>
    createServiceClient({ ...urls, [key]: "core.example", clientId: "id", clientSecret: "hush", audience: "core" });
  expect(create).toThrow(expect.objectContaining({ code: "bad_request", message: expect.stringContaining(key) }));
});
