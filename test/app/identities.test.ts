import { describe, expect, it } from "vitest";
import { destinationsOf } from "../../src/alerting/route.ts";
import { identify } from "../../src/app/identities.ts";
import { createSenders } from "../../src/app/integrations.ts";
import type { Configured } from "../../src/app/job-context.ts";
import type { Config } from "../../src/config/config.ts";
import { parseConfig } from "../../src/config/load.ts";
import { createDeliver } from "../../src/deliver/deliver.ts";
import type { Sender } from "../../src/deliver/model.ts";
import { retireIntegration } from "../../src/deliver/retire-integration.ts";
import type { Alert } from "../../src/health/alert.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { createCommit } from "../../src/poll/commit.ts";
import { createRerouting } from "../../src/poll/reroute.ts";
import type { Store } from "../../src/store/store.ts";
import { committer, ends, firing, MINUTE, T0, useTestStore } from "../store/fixtures.ts";
import { seededRandom } from "../support/random.ts";
import { describeWithRedis } from "../support/redis.ts";

function configOf(more: object): Config {
  const service = {
    base_url: "http://a",
    ws_url: "ws://a",
    auth_url: "http://a",
    client_id: "x",
    client_secret: "x",
    audience: "x",
  };
  const smtp = { host: "h", from: "a@b" };
  const loaded = parseConfig(JSON.stringify({ service, smtp, ...more }), {
    file: "a.yaml",
    env: {},
    readSecret: () => "",
  });
  if ("problems" in loaded) throw new Error(JSON.stringify(loaded.problems));
  return loaded.config;
}

const configured = (config: Config) => ({ config, senders: createSenders(config, silentLogger) }) as Configured;

/** An entry of a receiver: where its messages arrive, and whom they are for whatever its URL is. */
interface Entry {
  readonly reader: string;
  readonly type: "slack" | "email";
  readonly at: string;
}
interface Receiver {
  readonly name: string;
  readonly entries: readonly Entry[];
}

/** Every receiver gets every alert, each alert by itself. */
function configWith(receivers: readonly Receiver[]): Config {
  const written = receivers.map(({ name, entries }) => ({
    name,
    slack_configs: entries.flatMap(({ type, at }) => (type === "slack" ? [{ api_url: at }] : [])),
    email_configs: entries.flatMap(({ type, at }) => (type === "email" ? [{ to: at }] : [])),
  }));
  const routes = receivers.map(({ name }) => ({ receiver: name, continue: true }));
  const timers = { group_by: ["..."], group_wait: "0s", group_interval: "1s", repeat_interval: "365d" };
  return configOf({ receivers: written, route: { receiver: receivers[0]?.name, ...timers, routes } });
}

/** Where the message of an integration arrives. */
function placeOf(config: Config, { integration: { name, recipient } }: Sender): string {
  const [receiver, , position] = name.split("/");
  const found = config.receivers.find((one) => one.name === receiver);
  return recipient ?? found?.slack[Number(position)]?.apiUrl ?? "nowhere";
}

describeWithRedis("integrations keep what they were notified of", () => {
  const testStore = useTestStore();

  /** A daemon's notifying side; `said` has for each message where it arrived, what it was about, and which way. */
  function stage() {
    const said: { at: string; episode: string; word: "firing" | "resolved" }[] = [];
    const { store } = testStore();
    const write = committer(testStore());
    const firingNow = new Map<string, Alert>();
    let now = T0;
    let count = 0;
    let current: Configured | undefined;
    const depsOf = ({ config, senders }: Configured) => ({
      clock: { now: () => now },
      log: silentLogger,
      groups: store.groups,
      conversations: store.conversations,
      senders: new Map(
        [...senders.byId].map(([id, { integration }]): [string, Sender] => [
          id,
          {
            integration: { ...integration, paceMs: 0 },
            async send({ firing, resolved }) {
              const at = placeOf(config, { integration } as Sender);
              for (const { id: episode } of firing) said.push({ at, episode, word: "firing" });
              for (const { id: episode } of resolved) said.push({ at, episode, word: "resolved" });
            },
          },
        ]),
      ),
      externalUrl: undefined,
      toRefusal: (thrown: unknown) => {
        throw thrown;
      },
      notified: () => {},
      failed: () => {},
      suppressed: () => {},
      isActive: () => true,
    });
    async function deliver() {
      if (!current) return;
      now += MINUTE;
      const delivery = createDeliver({ ...depsOf(current), wake: async () => {}, stormMs: 0 });
      for (const id of current.senders.byId.keys()) await delivery.deliver(id);
    }
    return {
      said,
      /** Puts a configuration in force; after a restart the last one is known from Redis only. */
      async load(receivers: readonly Receiver[], how: "reload" | "restart") {
        const before = how === "reload" ? current : undefined;
        const after = await identify(store.identities, configured(configWith(receivers)), true);
        const left = [...(before?.senders.byId.keys() ?? [])].filter((id) => !after.senders.byId.has(id));
        current = after;
        now += MINUTE;
        await createRerouting({
          ...depsOf(after),
          store,
          owed: () => {},
          integrations: after.senders.list,
          checkActive: () => undefined,
          commit: createCommit({
            log: silentLogger,
            route: after.config.route,
            integrations: after.senders.list,
            wake: async () => {},
          }),
        }).begin(new Set(left));
        for (const id of before ? left : []) {
          expect(await retireIntegration(depsOf(before as Configured), id, new AbortController().signal)).toBe(true);
        }
        await deliver();
      },
      async fire() {
        if (!current) return;
        const { config, senders } = current;
        const alert = firing(`cam-${++count}`, now);
        firingNow.set(alert.id, alert);
        const to = destinationsOf(alert, config.route, senders.list);
        await write(now, { kind: "firing", alert, to });
        await deliver();
      },
      async end(id = [...firingNow.keys()][0]) {
        const alert = firingNow.get(id ?? "");
        if (!alert) return;
        firingNow.delete(alert.id);
        await write(now, ends(alert, now));
        await deliver();
      },
    };
  }

  const entry = (reader: string): Entry => ({ reader, type: "slack", at: `http://hooks.test/${reader}` });

  it("what is stored names no URL; a reader stores nothing, and replicas that load at once agree", async () => {
    const { identities, keys } = testStore().store;
    const config = configWith([{ name: "ops", entries: [entry("one"), entry("two")] }]);
    const other = configWith([{ name: "ops", entries: [entry("two"), entry("three")] }]);
    await identify(identities, configured(config), false);
    expect(await testStore().redis.get(keys.identities)).toBeNull();
    const load = (one: Config) => identify(testStore().replica().identities, configured(one), true);
    const loaded = await Promise.all([config, config, other, other].map(load));
    const idAt = ({ senders }: Configured, i: number) => senders.list[i]?.id;
    const [first, second, third, fourth] = loaded as [Configured, Configured, Configured, Configured];
    expect(idAt(first, 0)).toBe(idAt(second, 0));
    expect(idAt(third, 1)).toBe(idAt(fourth, 1));
    expect(new Set([idAt(first, 1), idAt(second, 1), idAt(third, 0), idAt(fourth, 0)]).size).toBe(1);
    expect(await testStore().redis.get(keys.identities)).not.toContain("hooks.test");
  });

  it("a channel of the Slack app keeps its id, whatever its token and its place become", async () => {
    const { identities } = testStore().store;
    const entries = (token: string, channels: readonly string[]) => {
      const slack_configs = channels.map((channel) => ({ bot_token: `xoxb-${token}`, channel }));
      return configured(configOf({ receivers: [{ name: "ops", slack_configs }] }));
    };
    const ids = async (one: Configured) => {
      const { senders } = await identify(identities, one, true);
      // What the sender can do besides stays with it.
      for (const { find, diagnose } of senders.byId.values())
        expect([typeof find, typeof diagnose]).toEqual(["function", "function"]);
      return senders.list.map(({ id }) => id);
    };
    const before = await ids(entries("0123456789", ["#one", "#two"]));
    expect(await ids(entries("9876543210", ["#new", "#two", "#one"]))).toEqual([
      expect.anything(),
      ...before.reverse(),
    ]);
  });

  it.each([1, 2, 3, 4])(
    "whatever is edited, firing and resolved alternate wherever messages arrive (seed %i)",
    async (seed) => {
      const random = seededRandom(seed);
      const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
      const { load, fire, end, said } = stage();
      let fresh = 0;
      const newEntry = (): Entry => {
        const reader = `r${++fresh}`;
        return random() < 0.5 ? entry(reader) : { reader, type: "email", at: `${reader}@example.com` };
      };
      const gone: Entry[] = [];
      const readerAt = new Map<string, string>();
      let receivers: Receiver[] = [
        { name: "first", entries: [newEntry(), newEntry(), entry("twice")] },
        { name: "second", entries: [newEntry(), entry("twice")] },
      ];
      const shuffle = <T>(of: readonly T[]) =>
        of
          .map((one) => [random(), one] as const)
          .sort(([a], [b]) => a - b)
          .map(([, one]) => one);
      const mapOne = (change: (one: Receiver) => Receiver) => {
        const chosen = pick(receivers);
        receivers = receivers.map((one) => (one === chosen ? change(one) : one));
      };
      /** Whether nothing may be sent because of it. */
      const edits: (() => boolean)[] = [
        () => {
          receivers = shuffle(receivers.map((one) => ({ ...one, entries: shuffle(one.entries) })));
          return true;
        },
        () => {
          mapOne((one) => ({ ...one, name: `renamed ${++fresh}` }));
          return true;
        },
        () => {
          mapOne(({ name, entries }) => {
            const removed = entries.length > 1 ? pick(entries) : undefined;
            if (removed) gone.push(removed);
            return { name, entries: entries.filter((one) => one !== removed) };
          });
          return false;
        },
        () => {
          const back = gone.length > 0 && random() < 0.5 ? gone.splice(0, 1)[0] : undefined;
          mapOne(({ name, entries }) => ({ name, entries: shuffle([...entries, back ?? newEntry()]) }));
          return false;
        },
        () => {
          const rotated = (one: Entry): Entry =>
            one.type === "slack" && one.reader !== "twice" ? { ...one, at: `${one.at}/${++fresh}` } : one;
          mapOne(({ name, entries }) => ({ name, entries: entries.map((one, i) => (i === 0 ? rotated(one) : one)) }));
          return true;
        },
      ];
      const noteReaders = () => {
        for (const { entries } of receivers) for (const { at, reader } of entries) readerAt.set(at, reader);
      };
      noteReaders();
      await load(receivers, "reload");
      for (let step = 0; step < 14; step++) {
        if (random() < 0.6) await fire();
        if (random() < 0.3) await end();
        const edit = pick(edits);
        const isQuiet = edit();
        noteReaders();
        const before = said.length;
        await load(receivers, random() < 0.7 ? "reload" : "restart");
        if (isQuiet) expect({ step, edit: edits.indexOf(edit), sent: said.slice(before) }).toMatchObject({ sent: [] });
      }
      for (let i = 0; i < 14; i++) await end();
      const balance = new Map<string, number>();
      for (const { at, episode, word } of said) {
        const reader = readerAt.get(at) ?? at;
        const key = `${reader} ${episode}`;
        const open = (balance.get(key) ?? 0) + (word === "firing" ? 1 : -1);
        expect(open).toBeGreaterThanOrEqual(0);
        expect(open).toBeLessThanOrEqual(reader === "twice" ? 2 : 1);
        balance.set(key, open);
      }
      const present = new Set(receivers.flatMap(({ entries }) => entries.map(({ reader }) => reader)));
      for (const [key, open] of balance)
        if (present.has(key.split(" ")[0] ?? "") && !key.startsWith("twice")) expect([key, open]).toEqual([key, 0]);
    },
  );
});

describe("rules of one name", () => {
  /** As in Redis, without one. */
  function memory(): Store["identities"] {
    let stored: Awaited<ReturnType<Store["identities"]["read"]>> = { rules: {}, integrations: {} };
    return {
      read: async () => stored,
      async update(next) {
        stored = JSON.parse(JSON.stringify(next(stored, new Set())));
      },
    };
  }

  interface Written {
    readonly severity: string;
    readonly below: number;
  }
  const name = "LowQuality";
  const rulesOf = (rules: readonly Written[]) =>
    configured(
      configOf({
        receivers: [{ name: "ops", slack_configs: [{ api_url: "http://hooks.test/1" }] }],
        rules: [
          { alert: "Other", when: { missing: "true" } },
          ...rules.map(({ severity, below }) => ({
            ...{ alert: name, labels: { severity } },
            when: {
              average_quality: { below: `${Math.round(below * 100)}%`, clear_above: `${Math.round(below * 100) + 1}%` },
            },
          })),
        ],
      }),
    );
  const critical = { severity: "critical", below: 0.5 };
  const warning = { severity: "warning", below: 0.7 };

  async function idsOf(store: Store["identities"], rules: readonly Written[]): Promise<string[]> {
    const { config } = await identify(store, rulesOf(rules), true);
    return config.rules.slice(1).map(({ id }) => id);
  }

  it.each<[string, Written[], string[]]>([
    ["reordered", [warning, critical], [`${name}#2`, name]],
    ["and the first is removed", [warning], [`${name}#2`]],
    [
      "and one is added before them",
      [{ severity: "info", below: 0.8 }, critical, warning],
      [`${name}#3`, name, `${name}#2`],
    ],
    ["reordered, with another threshold", [{ ...warning, below: 0.6 }, critical], [`${name}#2`, name]],
    ["reordered, with another label", [{ ...warning, severity: "page" }, critical], [`${name}#2`, name]],
    ["reordered, with another label and threshold", [{ severity: "page", below: 0.6 }, critical], [`${name}#2`, name]],
  ])("keep their ids when they are %s", async (_, after, ids) => {
    const store = memory();
    expect(await idsOf(store, [critical, warning])).toEqual([name, `${name}#2`]);
    expect(await idsOf(store, after)).toEqual(ids);
    expect(await idsOf(store, after)).toEqual(ids);
  });

  it("whatever is edited, a rule that stays as it was keeps its id, and no two have one", async () => {
    for (let seed = 1; seed <= 12; seed++) {
      const random = seededRandom(seed);
      const store = memory();
      const aRule = (): Written => ({ severity: `s${Math.floor(random() * 4)}`, below: Math.floor(random() * 9) / 10 });
      let rules = [aRule(), aRule(), aRule()];
      let ids = await idsOf(store, rules);
      for (let step = 0; step < 8; step++) {
        const text = (one: Written) => JSON.stringify(one);
        const before = new Map(rules.map((one, i) => [text(one), ids[i]]));
        const wasAlone = (one: Written) => rules.filter((other) => text(other) === text(one)).length === 1;
        const alone = new Set(rules.filter(wasAlone).map(text));
        rules = rules.filter(() => random() < 0.8).map((one) => (random() < 0.2 ? { ...one, below: 0.95 } : one));
        if (random() < 0.5 || rules.length === 0) rules.push(aRule());
        rules = rules
          .map((one) => [random(), one] as const)
          .sort(([a], [b]) => a - b)
          .map(([, one]) => one);
        ids = await idsOf(store, rules);
        expect(new Set(ids).size).toBe(ids.length);
        for (const [i, one] of rules.entries()) {
          if (alone.has(text(one)) && wasAlone(one)) expect([seed, ids[i]]).toEqual([seed, before.get(text(one))]);
        }
      }
    }
  });
});
