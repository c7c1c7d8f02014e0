/** The Slack app whose answer is lost, or whose replica dies: what its roots show once that was cleared up. */
import { expect, it } from "vitest";
import type { FoundPost, Notification } from "../../src/alerting/model.ts";
import type { Alert } from "../../src/health/alert.ts";
import { integration, useTestStore } from "../store/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";
import { type How, Lab, lost } from "./lab.ts";

const app = integration("ops/slack/0", { conversation: "edits" });

/** A channel that keeps its posts, and what each root shows. */
function channelOf(lab: Lab) {
  const posts: (FoundPost & { readonly conversation: string })[] = [];
  const roots = new Map<string, Notification>();
  lab.answer = (_, n) => {
    const { id = "", handle = `root-${posts.length}`, groups, isOver } = n.conversation ?? {};
    const post = { conversation: id, handle, notificationId: n.messageId, alerts: [...n.trace] };
    if (n.reason !== "update") posts.push(post);
    // A summary says when it was true, and is only closed.
    if (!roots.has(handle) || groups === undefined || isOver) roots.set(handle, n);
    return { handle };
  };
  lab.find = (_, { id }) => posts.filter((one) => one.conversation === id);
  const isOver = () => [...roots.values()].map(({ conversation }) => conversation?.isOver);
  return { roots, isOver };
}

function onlyFirst(how: How) {
  let isFirst = true;
  return () => {
    const now = isFirst ? how : "ok";
    isFirst = false;
    return now;
  };
}

describeWithRedis("a message of unknown outcome that was found", () => {
  const testStore = useTestStore();

  for (const how of [lost, "killed_after"] as const)
    it(`of a summary (${how === lost ? "lost" : how}) is over with the last of its groups, though some end before it was found`, async () => {
      const lab = new Lab(testStore(), [app]);
      lab.route = { ...lab.route, stormGroups: 10 };
      const { isOver } = channelOf(lab);
      lab.how = onlyFirst(how);
      const all: Alert[] = [];
      for (let i = 1; i <= 15; i++) all.push(await lab.fires(`s${i}`, `${i}`));
      lab.during = async () => {
        lab.during = async () => {};
        for (const one of all.splice(0, 3)) await lab.ends(one);
      };
      await lab.until(20);
      expect(isOver()).toEqual([false]);
      expect(lab.news().filter((line) => line.includes("-s1"))).toHaveLength(1);
      for (const one of all) await lab.ends(one);
      await lab.until(60);
      expect(isOver()).toEqual([true]);
    });

  it("is over with its subject, though many others begin before it was found", async () => {
    const lab = new Lab(testStore(), [app]);
    lab.route = { ...lab.route, stormGroups: 10 };
    const { roots, isOver } = channelOf(lab);
    lab.how = onlyFirst("killed_after");
    const first = await lab.fires("first", "0");
    const others: Alert[] = [];
    lab.during = async () => {
      lab.during = async () => {};
      for (let i = 1; i <= 15; i++) others.push(await lab.fires(`s${i}`, `${i}`));
      await lab.ends(first);
    };
    await lab.until(20);
    expect(isOver()).toEqual([true, false]);
    expect([...roots.values()][0]?.resolved.map(({ key }) => key)).toEqual(["first"]);
  });
});
