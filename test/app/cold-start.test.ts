import { Redis } from "ioredis";
import { expect, it } from "vitest";
import { camerasOf, type Stage, startWatch } from "../support/app.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

/** Under load the summary is made before everything was read, which it says. */
const OVER = /[Tt]reat (earlier alerts that are not listed|the others) as resolved/;

const goesDark = ({ simulator }: Pick<Stage, "simulator">, ...of: readonly { readonly id: string }[]) => {
  for (const { id } of of) simulator.world.setStatus(id, "offline");
};

const comesBack = ({ simulator }: Pick<Stage, "simulator">, { id }: { readonly id: string }) =>
  simulator.world.setStatus(id, "online");

/** Number of summaries received by Slack and by mail. */
const starts = ({ slack, mail }: Pick<Stage, "slack" | "mail">) => [
  slack.starts.messages.length,
  mail.starts.messages.length,
];

async function emptied({ redis: { url } }: Pick<Stage, "redis">): Promise<void> {
  const redis = new Redis(url);
  await redis.flushall();
  redis.disconnect();
}

describeWithRedis("a cold start", () => {
  it.concurrent("lists offline recordings, which are not sent again; their end is sent as usual, and no summary after a restart", async () => {
    await using watch = await startWatch({
      before: (world) => {
        for (const { recordings } of world.locations.slice(0, 2)) world.setStatus(recordings[0]?.id ?? "", "offline");
      },
    });
    const { slack, mail } = watch;
    const [dark, other] = camerasOf(watch);
    const [said, mailed] = await Promise.all([slack.starts.next(), mail.starts.next()]);
    expect(mailed.subject).toMatch(/^🔴 lenswatch watches 8 recordings at 4 locations; 2 recordings offline · /);
    for (const text of [said.shown, mailed.text]) {
      for (const { name } of [dark, other]) expect(text).toContain(name);
      expect(text).toMatch(OVER);
    }
    comesBack(watch, dark);
    expect((await slack.next()).text).toMatch(/^✅ Till \d+ recovered /);
    expect((await mail.next()).subject).toMatch(/^✅ Till \d+ recovered /);
    await watch.app.stop();
    await watch.start();
    comesBack(watch, other);
    await Promise.all([slack.next(), mail.next()]);
    expect([slack.messages.length, mail.messages.length]).toEqual([2, 2]);
    expect(starts(watch)).toEqual([1, 1]);
  });

  it.concurrent("reports unread recordings as unknown; alerts found later are sent as new", async () => {
    await using watch = await startWatch({
      rules: `
  - alert: RecordingOffline
    when: { status: offline }
    for: 0s`,
      before(world, faults) {
        world.setStatus(world.recordings[0]?.id ?? "", "offline");
        faults.set("error_payload", { endpoint: "status/uptime" });
      },
    });
    const { simulator, slack } = watch;
    const [camera] = camerasOf(watch);
    const said = await slack.starts.next();
    expect(said.text).toContain("; state not known yet");
    expect(said.shown).toContain("may still be active: they are sent again");
    simulator.faults.clearAll();
    expect((await slack.next()).shown).toContain(camera.name);
    comesBack(watch, camera);
    expect((await slack.next()).text).toMatch(/^✅/);
    expect(slack.starts.messages).toHaveLength(1);
  });

  it.concurrent("is sent once to a recipient that is added while two replicas run, and not again where a receiver is renamed", async () => {
    await using watch = await startWatch({
      before: (world) => world.setStatus(world.recordings[0]?.id ?? "", "offline"),
    });
    const { mail } = watch;
    const [dark, later] = camerasOf(watch);
    await mail.starts.next();
    await watch.reload((text) => text.replace("[ ops@example.com ]", "[ ops@example.com, boss@example.com ]"));
    await watch.join();
    const said = await mail.starts.next();
    expect(said.rcpts).toEqual(["boss@example.com"]);
    expect(said.subject).toMatch(/^🔴 lenswatch watches 8 recordings at 4 locations; /);
    expect(said.text).toContain(dark.name);
    expect(said.text).not.toContain("store was empty");
    await watch.reload((text) => text.replace("receiver: ops,", "receiver: team,").replace("name: ops", "name: team"));
    await watch.join();
    goesDark(watch, later);
    const isOf = ({ text }: { text: string }) => text.includes(later.name);
    await until("both are told", () => mail.messages.filter(isOf).length === 2);
    expect(mail.messages).toHaveLength(2);
    expect(starts(watch)).toEqual([1, 2]);
  });

  it.concurrent("of three replicas at once sends one summary to each integration, and one more once Redis is emptied", async () => {
    await using stage = await startWatch({
      before: (world) => world.setStatus(world.recordings[0]?.id ?? "", "offline"),
    });
    const [dark, later] = camerasOf(stage);
    await Promise.all([stage.join(), stage.join()]);
    goesDark(stage, later);
    await Promise.all([stage.slack.next(), stage.mail.next()]);
    expect(stage.slack.messages[0]?.shown).toContain(later.name);
    expect(starts(stage)).toEqual([1, 1]);
    await emptied(stage);
    const isAgain = ({ messages }: { messages: readonly unknown[] }) => messages.length > 1;
    await until("told again", () => isAgain(stage.slack.starts) && isAgain(stage.mail.starts));
    for (const { name } of [dark, later]) expect(stage.slack.starts.messages[1]?.shown).toContain(name);
    comesBack(stage, dark);
    await stage.slack.waitFor(({ text, shown }) => text.startsWith("✅") && shown.includes(dark.name));
    expect(stage.slack.messages).toHaveLength(2);
    expect(starts(stage)).toEqual([2, 2]);
  });
});
