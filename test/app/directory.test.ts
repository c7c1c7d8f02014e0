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

/** What replicas share, and one of them. */
const shared = () => ({ last: null as string | null, attempts: [] as (string | undefined)[], isDown: false });

function following(locations = 0, store = shared()) {
  let inForce: Directory | undefined;
  const followed = followDirectory({
    inventory: {
      useDirectory: (next) => {
        inForce = next;
      },
      locationIds: () => new Map(Array.from({ length: locations }, (_, i) => [String(i), i])).keys(),
      lastDirectory: async () => store.last,
      async keepDirectory(text) {
        store.last = text ?? null;
        return 1;
      },
    },
    shards: {
      async noteAttempt(subject, now, error) {
        expect([subject, now]).toEqual(["directory", 1_000]);
        if (store.isDown) throw new Error("Redis is down");
        store.attempts.push(error);
      },
    },
    clock: { now: () => 1_000 },
    log: silentLogger,
  });
  onTestFinished(() => followed.close());
  return {
    followed,
    trouble: () => store.attempts.at(-1),
    regionOf: (name: string) => inForce?.rowOf("", name)?.labels.region,
    inForce: () => inForce,
  };
}

test("changes of a file are followed, and a broken one leaves the last in force until it is mended", async () => {
  const file = join(await temporaryDirectory(), "shops.csv");
  const config = directoryOf(`{ locations: { file: ${file} }, refresh_interval: 1h }`);
  const { followed, trouble, regionOf, inForce } = following(2);
  await followed.follow(config);
  expect([trouble(), regionOf("Leeds")]).toEqual([`directory.locations: ${file} cannot be read (ENOENT)`, undefined]);
  await writeFile(file, "\ufefflocation;region\nLeeds;north\n");
  await followed.follow(config);
  expect([trouble(), regionOf("leeds")]).toEqual([undefined, "north"]);
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
    expect([trouble(), regionOf("Leeds")]).toEqual([detail, "north"]);
  }
  await writeFile(file, "location,region\nLeeds,east\n");
  await followed.follow(config);
  expect([trouble(), regionOf("Leeds")]).toEqual([undefined, "east"]);
  await followed.follow(undefined);
  expect(inForce()).toBeUndefined();
});

test("a replica that cannot read takes what another one, or one before it, read last", async () => {
  const folder = await temporaryDirectory();
  const at = (name: string) => directoryOf(`{ locations: { file: ${join(folder, name)} }, refresh_interval: 1h }`);
  const columns = { recipients: ["mail"] };
  const store = shared();
  const first = following(2, store);
  const write = (...rows: readonly string[]) =>
    writeFile(join(folder, "theirs.csv"), ["location,region,mail", ...rows, "Hull,south,"].join("\n"));
  await write("Leeds,north,jo@x.org", "York,south,amy@x.org");
  expect(await first.followed.follow({ ...at("theirs.csv"), ...columns })).toBe(true);
  const addresses = first.followed.addresses();

  // Neither the number of locations nor the columns of now decide about what was read then.
  const second = following(1, store);
  expect(await second.followed.follow({ ...at("mine.csv"), recipients: ["phone"] })).toBe(true);
  expect([second.regionOf("York"), second.trouble()]).toEqual(["south", expect.stringContaining("ENOENT")]);
  expect([...second.followed.recipients()]).toEqual([
    ["amy@x.org", ["mail"]],
    ["jo@x.org", ["mail"]],
  ]);
  expect(second.followed.addresses()).toBe(addresses);

  // Two shops change their managers: the same people, and others to write to.
  await write("Leeds,north,amy@x.org", "York,south,jo@x.org");
  expect(await first.followed.follow({ ...at("theirs.csv"), ...columns })).toBe(true);
  await write("York,east,jo@x.org", "Leeds,north,amy@x.org");
  expect(await first.followed.follow({ ...at("theirs.csv"), ...columns })).toBe(false);
  expect(await second.followed.follow({ ...at("mine.csv"), ...columns })).toBe(true);
  expect([second.regionOf("York"), second.followed.addresses()]).toEqual(["east", first.followed.addresses()]);
});

test("others are written to also where Redis was down when they were read", async () => {
  const file = join(await temporaryDirectory(), "shops.csv");
  const config = { ...directoryOf(`{ locations: { file: ${file} }, refresh_interval: 1h }`), recipients: ["mail"] };
  const store = shared();
  const { followed } = following(2, store);
  await writeFile(file, "location,mail\nLeeds,jo@x.org\n");
  store.isDown = true;
  await expect(followed.follow(config)).rejects.toThrow("Redis is down");
  store.isDown = false;
  expect(await followed.follow(config)).toBe(true);
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
