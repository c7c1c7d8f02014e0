import { expect, it } from "vitest";
import { createFollowAssignments, runSteps } from "../../src/app/reconcile.ts";
import { createAssigned } from "../../src/cluster/shard-assignment.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { T0 } from "../store/fixtures.ts";

it("a step that fails blocks no other", async () => {
  const ran: string[] = [];
  const fails = () => {
    ran.push("fails");
    throw new Error("down");
  };
  await runSteps([fails, async () => fails(), () => ran.push("follows")], silentLogger);
  expect(ran).toEqual(["fails", "fails", "follows"]);
});

it("follows what another replica assigned, once for each inventory or where their number differs", async () => {
  const stored = new Map([
    ["north", 0],
    ["south", 1],
  ]);
  const calls: string[] = [];
  const read = async () => {
    calls.push("assignments");
    return new Map(stored);
  };
  const assigned = createAssigned(read, undefined, async () => stored.size);
  const follow = createFollowAssignments(assigned);
  const attempts = new Map([["inventory", { goodAt: T0, attemptedAt: T0 }]]);
  await follow(attempts);
  await follow(attempts);
  expect(assigned.shards()).toEqual([0, 1]);
  expect(calls).toHaveLength(1);
  stored.set("east", 2);
  await follow(attempts);
  await follow(attempts);
  expect(assigned.shards()).toEqual([0, 1, 2]);
  expect(calls).toHaveLength(2);
});
