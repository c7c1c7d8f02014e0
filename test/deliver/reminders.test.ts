/** Reminders of what fires, where other alerts of its group end meanwhile. */
import { expect, it } from "vitest";
import { HOUR, integration, T0 } from "../store/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";
import { canBeAsked, inTurn, lost, useLab } from "./lab.ts";

describeWithRedis("what fires while an end follows every three hours", () => {
  const channels = {
    "a channel whose ends are replies": useLab(integration("ops/slack/0", { conversation: "edits" })),
    "a channel whose ends name what still fires": useLab(integration("ops/slack/0")),
  };
  it.each([
    ["a channel whose ends are replies", [0, 4, 8, 12, 16]],
    ["a channel whose ends name what still fires", [0]],
  ] as const)("is reminded of by %s", async (channel, hours) => {
    const lab = channels[channel]();
    canBeAsked(lab);
    const next = inTurn(lost, "ok");
    lab.how = (_, { reason }) => (reason === "resolved" ? next() : "ok");
    const all = [];
    for (const name of ["a", "b", "c", "d", "e", "f"]) all.push(await lab.fires(name));
    for (const [i, alert] of all.slice(1).entries()) {
      await lab.until((i + 1) * 180);
      await lab.ends(alert);
    }
    await lab.until(17 * 60);
    const seen = lab.log.filter(({ n }) => n.reason === "first" || n.reason === "reminder");
    expect(seen.map(({ at }) => Math.floor((at - T0) / HOUR))).toEqual(hours);
  });
});
