/** What happens in a run: to the world, to receivers, by people, to lenswatch. Each draws from a seed of its own. */
import { fingerprint } from "../../src/alerting/fingerprint.ts";
import { parseMatchers } from "../../src/alerting/matcher.ts";
import { createRandom, type Random } from "../chaos/random.ts";
import { endpointOf } from "./account.ts";
import { type EditName, edits } from "./edits.ts";
import type { ModelRun } from "./run.ts";
import { BAD, type Camera, GOOD, QUALITIES, SERVERS, statusAt } from "./world.ts";

/** Gives what to print of it. */
type Act = (run: ModelRun, random: Random) => unknown;

const MINUTE = 60_000;

/** Some cameras of the fleet, one at least. */
function some({ world }: ModelRun, random: Random): Camera[] {
  const camera = world.cameras[random.whole(world.cameras.length)];
  if (!camera || random.chance(0.4)) return camera ? [camera] : [];
  return world.cameras.filter(({ locationId }) => locationId === camera.locationId);
}

function set(run: ModelRun, camera: Camera, status: Camera["status"]): void {
  if (statusAt(camera, run.time.now()) !== "offline") camera.lastSeenAt = run.time.now();
  camera.status = status;
  camera.flapsMs = undefined;
}

const ids = (cameras: readonly Camera[]) => cameras.map(({ id }) => id).join(" ");

/** After which an integration has to be known again, or a rule. */
const BY = { actor: { via: "token", name: "model" } } as const;
const RECEIVER_EDITS = ["removeEntry", "addEntry", "reorderEntries", "reorderReceivers", "renameReceiver"] as const;
const RULE_EDITS = [
  "swapRules",
  "shuffleRules",
  "removeRule",
  "addRule",
  "changeThreshold",
  "respellLocations",
] as const;

/** Undoes a fault later, unless the run is over by then. */
function later(run: ModelRun, intervals: number, undo: () => void): void {
  run.time.after(intervals * run.scale.intervalMs, undo);
}

function concerned({ world }: ModelRun, random: Random): readonly string[] | "all" {
  if (random.chance(0.4)) return "all";
  return world.places.filter(() => random.chance(0.4)).map(({ id }) => id);
}

function fault(kind: "fails" | "partial" | "empty"): Act {
  return (run, random) => {
    const { faults } = run.world;
    const one = { kind, locations: concerned(run, random) };
    faults.status = one;
    later(run, random.between(1, kind === "empty" ? 3 : 14), () => {
      if (faults.status === one) faults.status = undefined;
    });
    return JSON.stringify(one.locations);
  };
}

export const actions = {
  outage(run, random) {
    const cameras = some(run, random);
    for (const camera of cameras) set(run, camera, "offline");
    return ids(cameras);
  },
  return(run, random) {
    const cameras = run.world.cameras.filter(({ status }) => status !== "online" && random.chance(0.6));
    for (const camera of cameras) set(run, camera, "online");
    return ids(cameras);
  },
  degrade(run, random) {
    const cameras = some(run, random);
    for (const camera of cameras) set(run, camera, "degraded");
    return ids(cameras);
  },
  flap(run, random) {
    const [camera] = some(run, random);
    if (camera) camera.flapsMs = run.scale.intervalMs * random.between(1, 2);
    return camera?.id;
  },
  quality(run, random) {
    const cameras = some(run, random);
    const quality = random.chance(0.1) ? undefined : random.pick(QUALITIES);
    for (const camera of cameras) camera.quality = quality;
    return `${quality} ${ids(cameras)}`;
  },
  unknown(run, random) {
    const cameras = some(run, random);
    for (const camera of cameras) camera.status = "unknown";
    return ids(cameras);
  },
  unreadable(run, random) {
    for (const camera of some(run, random)) camera.broken = !camera.broken;
  },
  unlist(run, random) {
    const [camera] = some(run, random);
    if (camera) camera.listed = !camera.listed;
    return camera?.id;
  },
  /** For good; a fleet that shrinks by more than a fifth would not be believed. */
  remove(run, random) {
    const { cameras } = run.world;
    if (run.removed + 1 > 0.15 * cameras.length) return undefined;
    const down = cameras.filter(({ status }) => status === "offline");
    const camera = down.length > 0 && random.chance(0.7) ? down[random.whole(down.length)] : some(run, random)[0];
    if (!camera) return undefined;
    run.removed++;
    cameras.splice(cameras.indexOf(camera), 1);
    return camera.id;
  },
  move(run, random) {
    const [camera] = some(run, random);
    const place = run.world.places[random.whole(run.world.places.length)];
    if (!camera || !place) return undefined;
    camera.locationId = place.id;
    return `${camera.id} to ${place.id}`;
  },
  /** To another camera server. */
  rewire(run, random) {
    const cameras = some(run, random);
    const server = random.pick(SERVERS);
    for (const camera of cameras) camera.server = server;
    return `${ids(cameras)} to ${server}`;
  },
  /** Most of them end by themselves. */
  serverOutage(run, random) {
    const server = random.pick(SERVERS);
    const cameras = run.world.cameras.filter((camera) => camera.server === server);
    for (const camera of cameras) set(run, camera, "offline");
    for (const camera of cameras) camera.returns = random.chance(0.9);
    later(run, random.between(3, 15), () => {
      for (const camera of cameras) if (camera.returns && camera.status === "offline") set(run, camera, "online");
    });
    return server;
  },
  twin(run, random) {
    const [camera] = some(run, random);
    const place = run.world.places[random.whole(run.world.places.length)];
    if (!camera || !place) return undefined;
    camera.twinAt = camera.twinAt === undefined ? place.id : undefined;
    return `${camera.id} at ${place.id}`;
  },
  uptime(run, random) {
    const cameras = some(run, random);
    const ratio = random.chance(0.15) ? undefined : random.pick([GOOD, BAD]);
    for (const { uptimes } of cameras) uptimes.push({ from: run.time.now(), ratio });
    return `${ratio} ${ids(cameras)}`;
  },
  fails: fault("fails"),
  partial: fault("partial"),
  empty: fault("empty"),
  listFails(run, random) {
    const { faults } = run.world;
    faults.list = random.pick(["fails", "empty"]);
    later(run, random.between(1, 8), () => {
      faults.list = undefined;
    });
    return faults.list;
  },
  uptimesFail(run, random) {
    const { faults } = run.world;
    faults.uptimes = "fails";
    later(run, random.between(1, 40), () => {
      faults.uptimes = undefined;
    });
  },
  slow(run, random) {
    const { faults } = run.world;
    faults.slowMs = random.pick([5_000, 20_000, run.longestAnswerMs]);
    faults.slowly = random.chance(0.5);
    return `${faults.slowMs} ms`;
  },
  receiverDown(run, random) {
    const list = run.process?.setup().senders.list ?? [];
    const integration = list[random.whole(list.length)];
    if (!integration) return undefined;
    const endpoint = endpointOf(integration);
    run.world.down.add(endpoint);
    later(run, random.between(1, 12), () => run.world.down.delete(endpoint));
    return endpoint;
  },
  async silence(run, random) {
    const { world, time, scale } = run;
    const place = world.places[random.whole(world.places.length)];
    const matchers = random.pick([`location_id="${place?.id}"`, 'alertname=~"Low.*"', 'severity="warning"']);
    const endsAt = time.now() + random.between(1, 20) * scale.intervalMs;
    const wanted = { id: undefined, startsAt: undefined, createdBy: "dana", comment: "", annotations: {}, endsAt };
    const changes = run.process?.setup().engine.changes;
    await changes?.setSilence({ ...wanted, matchers: parseMatchers(`{${matchers}}`) }, BY);
    return matchers;
  },
  async endSilence(run) {
    const changes = run.process?.setup().engine.changes;
    for (const { id } of (await changes?.silences()) ?? []) await changes?.endSilence(id, BY);
  },
  async acknowledge(run, random) {
    const { process } = run;
    const firing = (await process?.runtime.store.firing()) ?? [];
    const alert = firing[random.whole(firing.length)];
    if (!process || !alert) return undefined;
    await process.setup().engine.changes.acknowledge(fingerprint(alert.labels), { author: "dana", comment: "" }, BY);
    return alert.key;
  },
  reload: (run, random) => run.reload(edit(run, random)),
  changeWindow: (run, random) => run.reload(edit(run, random, ["changeWindow"])),
  editReceivers: (run, random) => run.reload(edit(run, random, [random.pick(RECEIVER_EDITS)])),
  editRules: (run, random) => run.reload(edit(run, random, [random.pick(RULE_EDITS)])),
  restart: (run, random) => run.restart(random.between(1, 6) * MINUTE),
  pause: (run, random) => run.restart(random.between(10, run.scale.daily ? 80 : 30) * run.scale.intervalMs),
  async pauseAndEdit(run, random) {
    const edited = edit(run, random);
    await run.restart(random.between(1, 30) * run.scale.intervalMs);
    return edited;
  },
} satisfies Record<string, Act>;

export type ActionKind = keyof typeof actions;
export const actionKinds = Object.keys(actions) as ActionKind[];

/** Edits the settings in place, at random where no edits are given; gives their names. */
function edit({ settings, scale }: ModelRun, random: Random, chosen: readonly EditName[] = twoOf(random)): string {
  for (const name of chosen) edits[name](settings, { random, scale });
  return chosen.join(", ");
}

function twoOf(random: Random): EditName[] {
  const names = Object.keys(edits) as [EditName, ...EditName[]];
  return Array.from({ length: random.between(1, 2) }, () => random.pick(names));
}

export interface PlannedAction {
  /** Since the start of the run, ms. */
  readonly atMs: number;
  readonly kind: ActionKind;
  readonly seed: number;
}

/** What happens more often than the rest. */
const OFTEN: readonly ActionKind[] = [
  "outage",
  "outage",
  "serverOutage",
  "return",
  "return",
  "quality",
  "reload",
  "reload",
];

/** Actions in the order of their time; of these kinds alone, where they are given. */
export function planActions(
  seed: number,
  {
    lengthMs,
    most,
    only,
  }: { readonly lengthMs: number; readonly most: number; readonly only?: readonly ActionKind[] | undefined },
): PlannedAction[] {
  const random = createRandom(seed);
  const all = [...actionKinds, ...OFTEN];
  const kinds = all.filter((kind) => !only || only.includes(kind)) as [ActionKind, ...ActionKind[]];
  return Array.from({ length: random.between(6, most) }, (): PlannedAction => {
    return { atMs: random.between(0, lengthMs), kind: random.pick(kinds), seed: random.whole(1_000_000_000) };
  }).sort((a, b) => a.atMs - b.atMs);
}
