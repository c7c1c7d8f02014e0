import { PassThrough } from "node:stream";
import { expect, it, test } from "vitest";
import type { AuditEntry } from "../../src/alerting/audit.ts";
import { createAuditTrail } from "../../src/app/audit-trail.ts";
import { createLogger } from "../../src/lib/log.ts";
import { formToken, signedIn } from "../http/page/visitor.ts";
import { startWatch } from "../support/app.ts";
import { describeWithRedis } from "../support/redis.ts";

const admin = "admin-token-of-32-characters-long";
const http = `http: { listen: "127.0.0.1:0", admin_token: ${admin} }`;

/** A logger that shows problems alone, and the audited lines it wrote. */
function logged() {
  const destination = new PassThrough();
  const written: string[] = [];
  destination.on("data", (chunk) => void written.push(String(chunk)));
  const lines = () =>
    written
      .join("")
      .trim()
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  return { log: createLogger({ level: "warn", destination }), lines: () => lines().filter(({ audit }) => audit) };
}

const MINUTE = 60_000;
const guess = (name: string): AuditEntry => ({
  actor: { via: "token", name },
  action: "refused",
  outcome: "refused",
  reason: "wrong_token",
});

test("a flood of refused attempts is one line of each kind in ten minutes and a count, and no change is left out", () => {
  const { log, lines } = logged();
  let now = 0;
  const audit = createAuditTrail({ log, clock: { now: () => now } });
  for (let i = 0; i < 500; i++) audit(guess(`${i % 60}`));
  audit({ ...guess("dana"), action: "acknowledged", outcome: "done" });
  expect(lines().map(({ action }) => action)).toEqual([...Array(50).fill("refused"), "acknowledged"]);
  now += 10 * MINUTE;
  audit(guess("0"));
  expect(lines().slice(51)).toMatchObject([{ attempts: 450 }, { action: "refused", actor: { name: "0" } }]);
});

test("texts of a line are bounded, in one line and without secrets that can be recognised", () => {
  const { log, lines } = logged();
  const poison = `\u202e\n${"x".repeat(10_000)}`;
  const actor = { via: "session", name: poison, person: poison } as const;
  const comment = `Bearer ${"s3cret".repeat(9)} ${poison}`;
  createAuditTrail({ log, clock: { now: () => 0 } })({ ...guess(""), actor, outcome: "done", after: { comment } });
  const text = JSON.stringify(lines());
  expect(text).not.toMatch(/s3cret|\u202e|\\n/);
  expect(text.length).toBeLessThan(1_500);
});

describeWithRedis("the audit trail of a running lenswatch", () => {
  it("has every change with its actor and what it was, whichever way it came", async () => {
    const { log, lines } = logged();
    await using watch = await startWatch({ http, log });
    const { app } = watch;
    const posted = await fetch(`${app.address}/api/v2/silences`, {
      method: "POST",
      headers: { authorization: `Bearer ${admin}`, "content-type": "application/json" },
      body: JSON.stringify({
        matchers: [{ isRegex: false, isEqual: true, name: "severity", value: "warning" }],
        endsAt: "2999-01-01T00:00:00Z",
        createdBy: "somebody",
        comment: "x",
      }),
    });
    const { silenceID: target } = (await posted.json()) as { silenceID: string };
    const dana = await signedIn(app.address, admin, "dana");
    const form = formToken((await dana.get("/?show=silences")).html);
    expect((await dana.post(`/silences/${target}/end`, { form })).status).toBe(303);
    const address = "127.0.0.1";
    const session = { via: "session", name: "admin_token", person: "dana" };
    const after = { createdBy: "somebody" };
    expect(lines()).toMatchObject([
      { action: "silence_set", outcome: "done", actor: { via: "token", name: "admin_token" }, address, target, after },
      { action: "sign_in", actor: session, address },
      { action: "silence_expired", actor: session, address, target, before: { comment: "x" }, after },
    ]);
    expect(JSON.stringify(lines())).not.toMatch(/of-32/);
  });
});
