import { expect, test } from "vitest";
import { FleetStory } from "./fleet-story.ts";
import { MINUTE, recording, rule, Story } from "./shard-history.ts";

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
    const self = new FleetStory(server);
    self.requestTimeoutMs = 20_000;
    const heard: string[] = [];
    for (let i = 0; i < 120 * 24; i++) {
      story.sweep({ a: "offline", b: "offline", c: "offline", d: "online" });
      // A new location, alone in its shard, for which the service answers 403.
      const refused = { goodAt: 0, attemptedAt: story.now, error: "answered 403" };
      const groups = { shards: hasOther ? [story.last.groups, undefined] : [story.last.groups], inventory };
      self.now = story.now;
      const evidence = () => ({ shards: hasOther ? [self.good(), refused] : [self.good()], groups });
      heard.push(...self.tick(evidence, 0));
    }
    expect(heard).toContain("firing CameraServerOffline/group/camera_server/e7");
  },
);
