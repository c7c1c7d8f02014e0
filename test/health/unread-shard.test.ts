import { expect, test } from "vitest";
import { evaluateSelf, type SelfAlertState } from "../../src/health/evaluate-self.ts";
import { HOUR, MINUTE, recording, rule, Story } from "./shard-history.ts";

test.each([false, true])(
  "a camera server is offline, whether another shard was never swept (%s) or not",
  (hasOther) => {
    const server = rule(
      "CameraServerOffline",
      { kind: "group_offline", by: "camera_server", atLeast: 1, clearBelow: 0.8, minRecordings: 3 },
      { forMs: MINUTE },
    );
    const story = new Story(server);
    for (const [id, cameraServer] of [
      ["a", "e7"],
      ["b", "e7"],
      ["c", "e7"],
      ["d", "e8"],
    ] as const)
      story.recordings.set(id, recording(id, { cameraServer, locationId: "L1" }));
    const inventory = { recording: (id: string) => story.recordings.get(id), location: () => undefined };
    let state: SelfAlertState = {};
    const heard: string[] = [];
    for (let i = 0; i < 120 * 24; i++) {
      story.sweep({ a: "offline", b: "offline", c: "offline", d: "online" });
      const good = { goodAt: story.now, attemptedAt: story.now };
      // A new location, alone in its shard, for which the service answers 403.
      const refused = { goodAt: 0, attemptedAt: story.now, error: "answered 403" };
      const groups = { shards: hasOther ? [story.last.groups, undefined] : [story.last.groups], inventory };
      const evidence = {
        shards: hasOther ? [good, refused] : [good],
        inventory: good,
        uptimes: [],
        integrations: [],
        groups,
      };
      const out = evaluateSelf(state, evidence, {
        now: story.now,
        rules: [server],
        intervalMs: 30_000,
        uptimeIntervalMs: 600_000,
        inventoryIntervalMs: HOUR,
        requestTimeoutMs: 20_000,
      });
      state = JSON.parse(JSON.stringify(out.next));
      heard.push(...out.transitions.map(({ kind, alert }) => `${kind} ${alert.key}`));
    }
    expect(heard).toContain("firing CameraServerOffline/group/camera_server/e7");
  },
);
