import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AuditEntry, type AuditOrigin, auditSortKey, createRefusals } from "../../src/alerting/audit.ts";
import { fingerprint } from "../../src/alerting/fingerprint.ts";
import { createMatcher, formatMatcher } from "../../src/alerting/matcher.ts";
import { createSuppressionChanges } from "../../src/deliver/suppression-changes.ts";
import { visibleJson } from "../../src/lib/text.ts";
import { entryText } from "../../src/store/audit.ts";
import type { StoredSession } from "../../src/store/sessions.ts";
import { createStore } from "../../src/store/store.ts";
import { POISONS } from "../support/hostile-names.ts";
import { describeWithRedis } from "../support/redis.ts";
import {
  camera,
  committer,
  fires,
  firing,
  HOUR,
  MINUTE,
  openTestStore,
  slack,
  T0,
  to,
  useTestStore,
} from "./fixtures.ts";

const by: AuditOrigin = { actor: { via: "token", name: "admin_token" }, address: "10.0.0.7" };
const other: AuditOrigin = { actor: { via: "session", name: "oncall", person: "dana" }, address: "10.0.0.8" };
const DAY = 24 * HOUR;

const anEntry = (changes: Partial<AuditEntry> = {}): AuditEntry => ({
  ...by,
  at: T0,
  action: "reload",
  outcome: "done",
  ...changes,
});

const refused = (changes: Partial<AuditEntry> = {}) =>
  anEntry({ action: "refused", outcome: "refused", reason: "wrong_token", ...changes });

const OPERATION = fc.record({
  kind: fc.constantFrom("set", "change", "change", "replace", "end", "acknowledge"),
  /** Which silence or alert, of those there are. */
  nth: fc.nat(9),
  /** Together with the next one, at another replica. */
  isAtOnce: fc.boolean(),
  passes: fc.constantFrom(0, 1, MINUTE, HOUR),
});
const step = { nth: 0, isAtOnce: false, passes: 0 } as const;
/** Both end the same silence in the same millisecond, with the same result. */
const replacedTwiceAtOnce: Operation[] = [
  { ...step, kind: "set" },
  { ...step, kind: "replace", isAtOnce: true },
  { ...step, kind: "replace" },
];

type Operation = typeof OPERATION extends fc.Arbitrary<infer T> ? T : never;

describeWithRedis("the audit log", () => {
  const testStore = useTestStore();

  it("has one entry for each change, whose before and after compose to what is stored, whatever is done at once", async () => {
    const cameras = ["a", "b", "c"].map((name) => firing(name));
    await fc.assert(
      fc.asyncProperty(fc.array(OPERATION, { minLength: 1, maxLength: 25 }), async (operations) => {
        const { store, replica } = openTestStore(testStore().redis);
        await committer({ store })(T0, ...cameras.map((alert) => fires(alert, to(slack.id))));
        const replicas = [store, replica()];
        let now = T0;
        const parts = replicas.map((store) =>
          createSuppressionChanges({ clock: { now: () => now }, store, wake: async () => {} }),
        );
        const perform = async ({ kind, nth }: Operation, replica: number) => {
          const changes = parts[replica] ?? expect.fail();
          const origin = replica === 0 ? by : other;
          const known = (await changes.silences()).toSorted((a, b) => (a.id < b.id ? -1 : 1));
          const silence = known[nth % known.length];
          const fresh = { startsAt: undefined, endsAt: now + HOUR, createdBy: "x", annotations: {} };
          const alert = cameras[nth % cameras.length] ?? camera;
          if (kind === "acknowledge") {
            await changes.acknowledge(fingerprint(alert.labels), { author: "x", comment: `${nth}` }, origin);
          } else if (kind === "set" || !silence) {
            const matchers = [createMatcher("recording_id", "=", "a")];
            await changes.setSilence({ ...fresh, id: undefined, matchers, comment: `${nth}` }, origin);
          } else if (kind === "end") {
            await changes.endSilence(silence.id, origin);
          } else {
            const matchers = kind === "change" ? silence.matchers : [createMatcher("recording_id", "=", `r${nth}`)];
            const wanted = { ...silence, endsAt: now + nth * MINUTE + 1, matchers, comment: `${kind} ${nth} ${now}` };
            await changes.setSilence(wanted, origin);
          }
        };
        for (let i = 0; i < operations.length; i++) {
          const [one, next] = operations.slice(i, i + 2);
          if (!one) continue;
          const both = one.isAtOnce && next ? [one, next] : [one];
          i += both.length - 1;
          await Promise.all(both.map(perform));
          now += one.passes;
        }
        await composes(store, now);
      }),
      { numRuns: 25, examples: [[replacedTwiceAtOnce]] },
    );
  });

  it("is written with the change, so that a call sent twice by the connection is one entry", async () => {
    const { store } = testStore();
    const changes = createSuppressionChanges({ clock: { now: () => T0 }, store, wake: async () => {} });
    const matchers = [createMatcher("recording_id", "=", "a")];
    const wanted = {
      id: undefined,
      startsAt: undefined,
      endsAt: T0 + HOUR,
      createdBy: "",
      comment: "",
      annotations: {},
    };
    await changes.setSilence({ ...wanted, matchers }, by);
    const [entry] = await store.audit.read(0);
    expect(entry).toMatchObject({ ...by, action: "silence_set", outcome: "done" });
    const [silence] = await store.silences.read(T0);
    const change = { before: [undefined], entries: [anEntry()] };
    await store.silences.write(silence ? [silence] : [], T0, change);
    expect(await store.audit.read(0)).toHaveLength(1);
  });

  it.each([
    ["refused", refused()],
    ["visits", anEntry({ action: "sign_in" })],
    ["visits", anEntry({ action: "sign_out" })],
  ] as const)(
    "keeps changes, whatever else there is and however much, and a bounded number of %s",
    async (stream, entry) => {
      const { store, redis } = testStore();
      await store.audit.write([anEntry()], T0);
      const flood = Array.from({ length: 500 }, (_, i) => ({ ...entry, address: `10.0.0.${i}` }));
      for (let i = 0; i < 5; i++) await store.audit.write(flood, T0 + 1);
      expect(await redis.xlen(store.keys.audit(stream))).toBe(2_000);
      const read = await store.audit.read(0);
      expect(read).toHaveLength(2_001);
      expect(read.at(-1)).toMatchObject(anEntry());
      expect(await redis.xlen(store.keys.audit("done"))).toBe(1);
    },
  );

  it("gives entries newest first with ids in that order, also of a replica whose clock is behind", async () => {
    const { store, replica } = testStore();
    await store.audit.write([anEntry({ target: "1" }), anEntry({ target: "2" })], T0);
    await replica().audit.write([refused({ target: "3" }), anEntry({ target: "4" })], T0 - HOUR);
    await store.audit.write([anEntry({ target: "5" })], T0);
    const read = await store.audit.read(T0);
    expect(read.filter(({ outcome }) => outcome === "done").map(({ target }) => target)).toEqual(["5", "4", "2", "1"]);
    expect(read.map(auditSortKey)).toEqual(read.map(auditSortKey).toSorted());
    expect(await store.audit.read(T0 - DAY)).toHaveLength(5);
    expect(await store.audit.read(T0 + 1)).toEqual([]);
  });

  it("gives counted attempts at the time that is shown for them, though they are written later", async () => {
    const { store } = testStore();
    const change = (minutes: number) => anEntry({ at: T0 + minutes * MINUTE, target: `${minutes}` });
    await store.audit.write([change(0)], T0);
    await store.audit.write([change(2)], T0 + 2 * MINUTE);
    const counted = refused({ at: T0 + MINUTE, target: "1", count: 12, until: T0 + 90_000 });
    await store.audit.write([counted], T0 + 11 * MINUTE);
    expect((await store.audit.read(0)).map(({ target }) => target)).toEqual(["2", "1", "0"]);
  });

  it("is deleted once the newest entry is older than it is kept, the others as they are", async () => {
    const { redis, prefix } = testStore();
    const store = createStore(redis, prefix, { historyMs: DAY });
    await store.audit.write([anEntry({ target: "old" })], T0);
    await store.audit.write([anEntry({ target: "new" })], T0 + DAY + 1);
    expect((await store.audit.read(0)).map(({ target }) => target)).toEqual(["new"]);
    const ttl = await redis.pttl(store.keys.audit("done"));
    expect(ttl).toBeGreaterThan(DAY - MINUTE);
    expect(ttl).toBeLessThanOrEqual(DAY);
  });

  it.each(POISONS)("bounds and cleans every text of an entry: %#", async (poison) => {
    const facts = { matchers: poison.repeat(3), comment: poison, createdBy: poison };
    const actor = { via: "session", name: poison, person: poison } as const;
    const entry = anEntry({ actor, address: poison, target: poison, before: facts, after: facts });
    const text = entryText(entry);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(2_048);
    expect(visibleJson(text)).toBe(text);
    await testStore().store.audit.write([entry], T0);
    const [{ id = "", ...read } = expect.fail()] = await testStore().store.audit.read(0);
    expect(read).toEqual(JSON.parse(text));
  });

  it("has no secret that can be recognised", () => {
    const comment = "see https://dana:hunter22@x.example/?token=abcdef, Bearer abcdefabcdef";
    expect(entryText(anEntry({ after: { comment } }))).not.toMatch(/hunter22|abcdef/);
  });

  it("leaves out rows that cannot be read", async () => {
    const { store, redis } = testStore();
    for (const text of ["", "{", "null", "{}", '{"actor":{},"at":1}', '{"actor":{"name":"x"}}'])
      await redis.xadd(store.keys.audit("done"), "*", "e", text);
    expect(await store.audit.read(0)).toEqual([]);
  });
});

describeWithRedis("invalid data of another client of Redis", () => {
  const testStore = useTestStore();

  it.each([
    ["another type", "SET", "x"],
    ["an id after which none can follow", "XADD", "18446744073709551615-18446744073709551615", "e", "x"],
    ["an id of the far future", "XADD", "9007199254740993-1", "e", "x"],
  ])("of %s in the audit log keeps no change from being made and written", async (_what, command, ...args) => {
    const { store, redis } = testStore();
    await redis.call(command, store.keys.audit("done"), ...args);
    const changes = createSuppressionChanges({ clock: { now: () => T0 }, store, wake: async () => {} });
    const wanted = {
      id: undefined,
      startsAt: undefined,
      endsAt: T0 + HOUR,
      createdBy: "",
      comment: "",
      annotations: {},
    };
    const matchers = [createMatcher("recording_id", "=", "a")];
    for (let i = 0; i < 2; i++)
      expect(await changes.setSilence({ ...wanted, matchers }, by)).toMatchObject({ outcome: "set" });
    expect((await store.audit.read(0)).map(({ action }) => action)).toEqual(["silence_set", "silence_set"]);
  });

  it("ends no sign-in where too many sessions cannot be read", async () => {
    const { store, redis } = testStore();
    const ids = Array.from({ length: 500 }, (_, i) => `s${i}`);
    await redis.zadd(store.keys.sessions, ...ids.flatMap((id) => [T0 + DAY, id]));
    for (const id of ids) await redis.set(store.keys.session(id), "{");
    const mine = { id: "mine", token: "a/b", person: "dana", address: "", createdAt: T0, expiresAt: T0 + DAY };
    await store.sessions.open(mine, anEntry({ action: "sign_in" }));
    expect(await store.sessions.list(T0)).toEqual([mine]);
  });
});

describe("refused attempts", () => {
  it("are written once, and as a count at the end of ten minutes", () => {
    const refusals = createRefusals();
    expect(refusals.note(refused())).toHaveLength(1);
    for (let i = 1; i <= 500; i++) expect(refusals.note(refused({ at: T0 + i }))).toEqual([]);
    expect(refusals.note(refused({ at: T0 + 501, reason: "missing_scope" }))).toHaveLength(1);
    expect(refusals.take(T0 + 10 * MINUTE - 1)).toEqual([]);
    expect(refusals.take(T0 + 10 * MINUTE)).toEqual([{ ...refused(), count: 500, until: T0 + 500 }]);
    expect(refusals.take(T0 + 20 * MINUTE)).toEqual([]);
  });

  it("of a flood that varies become at most a hundred entries in ten minutes, and none is uncounted", () => {
    const refusals = createRefusals();
    const written: AuditEntry[] = [];
    for (let i = 0; i < 5_000; i++)
      written.push(...refusals.note(refused({ at: T0 + i, address: `10.0.${i % 3_000}`, target: `/${i}` })));
    written.push(...refusals.take(T0 + HOUR));
    expect(written.length).toBeLessThanOrEqual(101);
    expect(written.reduce((sum, { count = 1 }) => sum + count, 0)).toBe(5_000);
  });
});

describeWithRedis("sessions", () => {
  const testStore = useTestStore();
  const session = (id: string, changes: Partial<StoredSession> = {}): StoredSession => {
    const times = { createdAt: T0, expiresAt: T0 + DAY };
    return { id, token: "admin_token", person: "dana", address: "10.0.0.7", ...times, ...changes };
  };
  const signIn = anEntry({ action: "sign_in" });
  const signOut = anEntry({ action: "sign_out" });

  it("are found by every replica until they are ended or expire, and not again by what was under way", async () => {
    const { store, replica, redis } = testStore();
    await store.sessions.open(session("a"), signIn);
    await store.sessions.open(session("b"), signIn);
    expect(await replica().sessions.find("a", T0 + 1)).toEqual(session("a"));
    expect(await replica().sessions.find("a", T0 + DAY)).toBeUndefined();
    expect(await redis.pttl(store.keys.session("a"))).toBeGreaterThan(DAY - MINUTE);
    const [, ended] = await Promise.all([
      store.sessions.find("a", T0 + HOUR),
      replica().sessions.end(["a", "nobody"], signOut),
    ]);
    expect(ended).toEqual(["a"]);
    expect(await store.sessions.find("a", T0 + HOUR)).toBeUndefined();
    expect(await store.sessions.end(["a"], signOut)).toEqual([]);
    expect((await store.sessions.list(T0)).map(({ id }) => id)).toEqual(["b"]);
    expect((await store.audit.read(0)).map(({ action }) => action)).toEqual(["sign_out", "sign_in", "sign_in"]);
  });

  it("are bounded in number: of too many, the oldest of the same token ends", async () => {
    const { store, redis } = testStore();
    await store.sessions.open(session("admin"), signIn);
    for (let i = 0; i < 505; i++)
      await store.sessions.open(
        session(`r${i}`, { token: "read_token", createdAt: T0 + i, expiresAt: T0 + DAY + i }),
        signIn,
      );
    const left = await store.sessions.list(T0);
    expect(left).toHaveLength(500);
    const ids = left.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(["admin", "r6"]));
    expect(ids).not.toContain("r5");
    expect(await redis.exists(store.keys.session("r5"))).toBe(0);
  });
});

async function composes(store: ReturnType<ReturnType<typeof useTestStore>>["store"], now: number): Promise<void> {
  const entries = (await store.audit.read(0)).reverse();
  const last = new Map<string, AuditEntry>();
  for (const entry of entries) {
    expect(entry.before).toEqual(last.get(entry.target ?? "")?.after);
    expect(entry.actor.name).toMatch(/^(admin_token|oncall)$/);
    last.set(entry.target ?? "", entry);
  }
  for (const { id, matchers, startsAt, endsAt, createdBy, comment } of await store.silences.read(now)) {
    const times = { startsAt: new Date(startsAt).toISOString(), endsAt: new Date(endsAt).toISOString() };
    expect(last.get(id)?.after).toEqual({
      matchers: matchers.map(formatMatcher).join(", "),
      ...times,
      createdBy,
      comment,
    });
    last.delete(id);
  }
  for (const [episode, { author, comment }] of await store.acks.read()) {
    expect(last.get(episode)?.after).toEqual({ author, comment });
    last.delete(episode);
  }
  expect([...last.keys()]).toEqual([]);
}
