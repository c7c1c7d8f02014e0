import { expect, it } from "vitest";
import { camerasOf, metricsOf, sampleOf, startWatch, type Watch } from "../support/app.ts";
import { describeWithRedis } from "../support/redis.ts";
import type { SlackAnswer } from "../support/slack-sink.ts";
import { until } from "../support/until.ts";

/** Slack refuses `times` posts, then accepts; gives its answers. */
function refuse(watch: Watch, times: number, answer: SlackAnswer | "hang"): number[] {
  const answers: number[] = [];
  let left = times;
  watch.slack.respond(() => {
    const now = left-- > 0 ? answer : { status: 200, body: "ok" };
    answers.push(now === "hang" ? 0 : now.status);
    return now;
  });
  return answers;
}

describeWithRedis("a failing receiver", () => {
  it.concurrent("a Slack that hangs is timed out and retried, and delays no e-mail", async () => {
    await using watch = await startWatch();
    const answers = refuse(watch, 1, "hang");
    const [camera] = camerasOf(watch);
    watch.simulator.world.setStatus(camera.id, "offline");
    const letter = await watch.mail.next();
    expect(letter.subject).toContain("offline");
    await until("Slack accepted it", () => answers.includes(200));
    expect(answers).toEqual([0, 200]);
  });

  it.concurrent("a webhook that answers 404 is reported to the others once, and as recovered when it is back", async () => {
    await using watch = await startWatch();
    const answers = refuse(watch, Number.POSITIVE_INFINITY, { status: 404, body: "no_service" });
    const [camera, other] = camerasOf(watch);
    watch.simulator.world.setStatus(camera.id, "offline");
    await watch.mail.waitFor(({ subject }) => subject.includes(camera.location.name));
    const notice = await watch.mail.waitFor(({ text }) => text.includes("Slack (ops)"));
    expect(notice.subject).toMatch(/message|notification/i);
    expect(notice.raw).not.toContain(watch.slack.url);
    watch.simulator.world.setStatus(other.id, "offline");
    await watch.mail.waitFor(({ subject }) => subject.includes(other.location.name));
    const refusals = answers.length;
    expect(refusals).toBeLessThanOrEqual(3);
    watch.slack.respond({ status: 200, body: "ok" });
    await until("Slack heard of both", () =>
      [camera, other].every(({ name }) =>
        watch.slack.messages.slice(refusals).some(({ shown }) => shown.includes(name)),
      ),
    );
    expect(
      sampleOf(
        await metricsOf(watch.app),
        'lenswatch_notifications_failed_total{receiver="ops",integration="slack",reason="not_found"}',
      ),
    ).toBe(refusals);
    expect(watch.slack.messages.some(({ shown }) => shown.includes("Slack (ops)"))).toBe(false);
  });
});
