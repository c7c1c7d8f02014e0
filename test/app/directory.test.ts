import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { followDirectory } from "../../src/app/directory.ts";
import { directoryNow } from "../../src/app/read-directory.ts";
import type { Directory } from "../../src/health/directory.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { configOf, receivers, service } from "../config/text.ts";
import { temporaryDirectory } from "../support/directory.ts";
import { startHttpSink } from "../support/http-sink.ts";

const directoryOf = (yaml: string) => {
  const { directory } = configOf(`${service}${receivers}directory: ${yaml}\n`);
  if (!directory) throw new Error("no directory");
  return directory;
};

function following(locations = 0) {
  let inForce: Directory | undefined;
  const followed = followDirectory({
    inventory: {
      useDirectory: (next) => {
        inForce = next;
      },
      locationIds: () => new Map(Array.from({ length: locations }, (_, i) => [String(i), i])).keys(),
    },
    clock: { now: () => 1_000 },
    log: silentLogger,
  });
  onTestFinished(() => followed.close());
  return { followed, regionOf: (name: string) => inForce?.rowOf("", name)?.labels.region, inForce: () => inForce };
}

test("changes of a file are followed, and a broken one leaves the last in force until it is mended", async () => {
  const file = join(await temporaryDirectory(), "shops.csv");
  const config = directoryOf(`{ locations: { file: ${file} }, refresh_interval: 1h }`);
  const { followed, regionOf, inForce } = following(2);
  await followed.follow(config);
  expect([followed.trouble(), regionOf("Leeds")]).toEqual([
    { since: 1_000, detail: `directory.locations: ${file} cannot be read (ENOENT)` },
    undefined,
  ]);
  await writeFile(file, "\ufefflocation;region\nLeeds;north\n");
  await followed.follow(config);
  expect([followed.trouble(), regionOf("leeds")]).toEqual([undefined, "north"]);
  const broken: readonly [Buffer | string, string][] = [
    [
      Buffer.from("location,region\nK\xf6ln,south\n", "latin1"),
      'directory.locations is not in UTF-8: save it as "CSV UTF-8"',
    ],
    [
      "location,region\nLeeds,south\nYork,south\nBath,south\nHull,south\nRipon,x\n",
      "it has more than 4 rows, twice the number of locations",
    ],
    ["x".repeat(16 * 1024 * 1024 + 1), "directory.locations is larger than 16 MiB"],
  ];
  for (const [text, detail] of broken) {
    await writeFile(file, text);
    await followed.follow(config);
    expect([followed.trouble()?.detail, regionOf("Leeds")]).toEqual([detail, "north"]);
  }
  await writeFile(file, "location,region\nLeeds,east\n");
  await followed.follow(config);
  expect([followed.trouble(), regionOf("Leeds")]).toEqual([undefined, "east"]);
  await followed.follow(undefined);
  expect(inForce()).toBeUndefined();
});

test("a URL is asked with its http_config, and is never named", async () => {
  const sink = await startHttpSink();
  onTestFinished(() => sink.close());
  const config = directoryOf(
    `{ locations: { url: ${sink.url}/secret-path, http_config: { basic_auth: { username: me, password: pw } } }, contacts: [Phone No] }`,
  );
  sink.respond(({ headers }) =>
    headers.authorization === `Basic ${btoa("me:pw")}`
      ? { status: 200, body: "location,Phone No,region\nLeeds,0113,north\n" }
      : { status: 401 },
  );
  const { rows } = await directoryNow(config);
  expect(rows).toMatchObject([{ labels: { region: "north" }, contacts: [["Phone_No", "0113"]] }]);
  sink.respond({ status: 404 });
  await expect(directoryNow(config)).rejects.toThrow(/^directory\.locations: its URL answered 404$/);
  await sink.close();
  await expect(directoryNow(config)).rejects.toThrow(
    /^directory\.locations: it could not be reached \(ECONNREFUSED\)$/,
  );
});
