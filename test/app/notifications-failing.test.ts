import { expect, it } from "vitest";
import { startWatch, type Watch } from "../support/app.ts";
import { describeWithRedis } from "../support/redis.ts";
import { type SlackAnswer, startSlackSink } from "../support/slack-sink.ts";
import { until } from "../support/until.ts";

const accepted = (watch: Watch, answers: readonly number[]) =>
  watch.slack.messages.filter((_, i) => answers[i] === 200);

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

const metric = async (watch: Watch, series: string): Promise<number> => {
  const text = await (await fetch(`${watch.app.address}/metrics`)).text();
  const line = text.split("\n").find((one) => one.startsWith(`${series} `));
  return line ? Number(line.slice(series.length + 1)) : 0;
};

function cameras(watch: Watch) {
  const [first, second, third] = watch.simulator.world.locations.map(({ recordings }) => recordings[0]);
  if (!first || !second || !third) throw new Error("no cameras");
  return [first, second, third] as const;
}

describeWithRedis("a failing receiver", () => {
  it.concurrent("a Slack that answers 500 twice accepts the message once", async () => {
    await using watch = await startWatch();
    const answers = refuse(watch, 2, { status: 500, body: "oops" });
    const [camera] = cameras(watch);
    watch.simulator.world.setStatus(camera.id, "offline");
    expect((await watch.mail.next()).subject).toContain("offline");
    await until("Slack accepted it", () => answers.includes(200));
    expect(answers).toEqual([500, 500, 200]);
    expect(accepted(watch, answers)[0]?.shown).toContain(camera.name);
    expect(
      await metric(
        watch,
        'lenswatch_notifications_failed_total{receiver="ops",integration="slack",reason="server_error"}',
      ),
    ).toBe(2);
    expect(watch.mail.messages.filter(({ text }) => text.includes(camera.name))).toHaveLength(1);
  });

  it.concurrent("Retry-After is obeyed to the second, and the message then has the current state", async () => {
    await using watch = await startWatch();
    const answers = refuse(watch, 1, {
      status: 429,
      headers: { "retry-after": "3" },
      body: '{"retry_after":3,"ok":false,"error":"rate_limited"}',
    });
    const [first, second] = cameras(watch);
    watch.simulator.world.setStatus(first.id, "offline");
    await until("Slack said 429", () => answers.length === 1);
    watch.simulator.world.setStatus(first.id, "online");
    watch.simulator.world.setStatus(second.id, "offline");
    await until("both were told", () => answers.length === 3);
    const [refused, ...notified] = watch.slack.messages;
    expect((notified[0]?.receivedAt ?? 0) - (refused?.receivedAt ?? 0)).toBeGreaterThanOrEqual(3_000);
    const late = notified.find(({ shown }) => shown.includes(first.name));
    expect(late?.shown).toMatch(/was offline .*\d\d:\d\d(?::\d\d)?–/is);
    expect(notified.find(({ shown }) => shown.includes(second.name))?.shown).toMatch(/offline|since/i);
    expect(notified).toHaveLength(2);
  });

  it.concurrent("a Slack that hangs is timed out and retried, and delays no e-mail", async () => {
    await using watch = await startWatch();
    const answers = refuse(watch, 1, "hang");
    const [camera] = cameras(watch);
    watch.simulator.world.setStatus(camera.id, "offline");
    const letter = await watch.mail.next();
    expect(letter.subject).toContain("offline");
    await until("Slack accepted it", () => answers.includes(200));
    expect(answers).toEqual([0, 200]);
  });

  it.concurrent("a webhook that answers 404 is reported to the others once, and as recovered when it is back", async () => {
    await using watch = await startWatch();
    const answers = refuse(watch, Number.POSITIVE_INFINITY, { status: 404, body: "no_service" });
    const [camera, other] = cameras(watch);
    watch.simulator.world.setStatus(camera.id, "offline");
    await watch.mail.waitFor(({ subject }) => subject.includes(camera.location.name));
    const notice = await watch.mail.waitFor(({ text }) => text.includes("ops / slack"));
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
      await metric(
        watch,
        'lenswatch_notifications_failed_total{receiver="ops",integration="slack",reason="not_found"}',
      ),
    ).toBe(refusals);
    expect(watch.slack.messages.some(({ shown }) => shown.includes("ops / slack"))).toBe(false);
  });

  it.concurrent("a mail server that answers 451 gets the message later, once; Slack does not wait", async () => {
    await using watch = await startWatch();
    watch.mail.respond({ data: { code: 451, message: "try later" } });
    const [camera] = cameras(watch);
    watch.simulator.world.setStatus(camera.id, "offline");
    await watch.slack.next();
    await until(
      "the mail server refused",
      async () =>
        (await metric(
          watch,
          'lenswatch_notifications_failed_total{receiver="ops",integration="email",reason="server_error"}',
        )) >= 1,
    );
    watch.mail.respond({});
    expect((await watch.mail.next()).subject).toContain("offline");
    expect(watch.mail.messages).toHaveLength(1);
  });

  it.concurrent("that a mail server fails is not mailed by it, whatever the number of recipients", async () => {
    await using board = await startSlackSink().then((sink) => ({ sink, [Symbol.asyncDispose]: () => sink.close() }));
    await using watch = await startWatch({
      receivers: `
  - name: ops
    slack_configs: []
    email_configs: [ { to: [ a@example.com, b@example.com, c@example.com ] } ]
  - name: board
    slack_configs: [ { api_url: "${board.sink.url}" } ]`,
      route: `{ receiver: ops, group_wait: 0s, group_interval: 1s, routes: [
        { receiver: board, matchers: ['alertname = "NotificationsFailing"'], continue: true }, { receiver: ops } ] }`,
    });
    watch.mail.respond({ data: { code: 451, message: "try later" } });
    const [camera] = cameras(watch);
    watch.simulator.world.setStatus(camera.id, "offline");
    await board.sink.waitFor(({ shown }) => shown.includes("ops / email"));
    watch.mail.respond({});
    await board.sink.waitFor(({ shown }) => shown.includes("✅"));
    expect(
      watch.mail.messages.map(({ subject }) => subject).filter((subject) => /notification/i.test(subject)),
    ).toEqual([]);
  });

  it.concurrent("a recipient refused with 550 causes no repetition to the others", async () => {
    await using watch = await startWatch({
      receivers: `
  - name: ops
    slack_configs: []
    email_configs: [ { to: [ gone@example.com, here@example.com ] } ]`,
    });
    watch.mail.respond({ rcpt: { "gone@example.com": { code: 550, message: "no such user" } } });
    const [camera] = cameras(watch);
    watch.simulator.world.setStatus(camera.id, "offline");
    const letter = await watch.mail.next();
    expect(letter.rcpts).toEqual(["here@example.com"]);
    const notice = await watch.mail.next();
    expect(notice.rcpts).toEqual(["here@example.com"]);
    watch.simulator.world.setStatus(camera.id, "online");
    await watch.mail.waitFor(({ subject }) => subject.includes("✅"));
    expect(watch.mail.messages.filter(({ subject }) => subject.includes(camera.location.name))).toHaveLength(2);
  });

  it.concurrent("a message that Slack calls invalid is sent again as plain text, and blocks nothing else", async () => {
    await using watch = await startWatch();
    const [camera, other] = cameras(watch);
    watch.slack.respond((message) =>
      message.body.attachments?.length && message.shown.includes(camera.name)
        ? { status: 400, body: "invalid_blocks" }
        : { status: 200, body: "ok" },
    );
    watch.simulator.world.setStatus(camera.id, "offline");
    const plain = await watch.slack.waitFor(({ body }) => !body.attachments?.length);
    expect(plain.text).toContain(camera.location.name);
    watch.simulator.world.setStatus(other.id, "offline");
    expect((await watch.slack.waitFor(({ shown }) => shown.includes(other.name))).shown).toContain("offline");
  });

  it.concurrent("one failing webhook of two delays neither the other nor its own recovery", async () => {
    await using healthy = await startSlackSink().then((sink) => ({ sink, [Symbol.asyncDispose]: () => sink.close() }));
    await using watch = await startWatch({
      receivers: `
  - name: ops
    slack_configs: [ { api_url: "http://127.0.0.1:9/services/dead" }, { api_url: "${healthy.sink.url}" } ]`,
    });
    const [camera] = cameras(watch);
    watch.simulator.world.setStatus(camera.id, "offline");
    await healthy.sink.waitFor(({ shown }) => shown.includes(camera.name));
    const notice = await healthy.sink.waitFor(({ shown }) => shown.includes("ops / slack"));
    expect(notice.shown).not.toContain("services/dead");
  });
});
