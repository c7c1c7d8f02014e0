/** What a conversation's root and its replies say. */
import { describe, expect, test } from "vitest";
import type { Notification, NotifiedAlert } from "../../src/alerting/model.ts";
import { renderReply, renderRoot } from "../../src/notify/slack/conversation.ts";
import { slackProblems } from "../support/harmless.ts";
import { limitsBroken, type SlackBody } from "../support/slack-sink.ts";
import { alertOf, endedOf, HOUR, MINUTE, NOW, notificationOf } from "./fixtures.ts";

const conversation = { id: "0123456789abcdef", openedAt: NOW - 11 * MINUTE, isOver: false };
const group = { id: "3f2a00c1d2e3f405", labels: {} };
const of = (changes: Partial<Notification>) => notificationOf({ conversation, group, ...changes });

function linesOf(body: unknown): string[] {
  const { blocks = [], attachments = [] } = body as SlackBody;
  const all = [...blocks, ...attachments.flatMap((one) => one.blocks ?? [])];
  expect(limitsBroken(body as SlackBody)).toEqual([]);
  return all.flatMap(({ text }) => text?.text.split("\n") ?? []).filter((line) => !/^<https.*>$/.test(line));
}

interface Element {
  readonly action_id: string;
  readonly url?: string;
  readonly options?: readonly { text: { text: string }; value: string }[];
}

function buttonsOf(body: unknown): { id: string | undefined; elements: readonly Element[] } {
  const row = (body as SlackBody).blocks?.find(({ type }) => type === "actions");
  return { id: row?.block_id, elements: (row?.elements ?? []) as unknown as Element[] };
}

const acknowledged = { reason: "acknowledged", by: "Ana", until: NOW + 43 * MINUTE, comment: "on *my* way" } as const;
const standing = (name: string, suppressedBy: NotifiedAlert["suppressedBy"]) =>
  alertOf(name, { isNew: false, suppressedBy });

describe("a root", () => {
  test("shows all that fires, and not what was new in a message", () => {
    const changes = { reason: "more", firing: [alertOf("Till 3", { isNew: false }), alertOf("Till 4")] } as const;
    const lines = linesOf(renderRoot(of(changes)));
    expect(lines[0]).toBe("*🔴 2 recordings offline · Leeds Briggate*");
    expect(lines.join("\n")).not.toMatch(/new|Still firing/i);
    expect(linesOf(renderRoot(of({ ...changes, reason: "reminder" })))).toEqual(lines);
  });

  test("says who acknowledged, until when and why, and what is silenced", () => {
    const silenced = { reason: "silenced", by: "6f1e", author: "Ben", until: NOW + HOUR } as const;
    const planned = { reason: "maintenance", by: "stock-take", until: NOW + HOUR, comment: "off" } as const;
    const changes = {
      firing: [],
      standing: [standing("Till 3", acknowledged), standing("Till 4", silenced), standing("Till 5", planned)],
    };
    expect(linesOf(renderRoot(of({ reason: "update", ...changes })))).toEqual([
      "*🔴 3 recordings offline · Leeds Briggate*",
      "*Till 3* · offline since 14:05 GMT (12 m) · acknowledged by Ana until 15:00 GMT: on \u200b*\u200bmy\u200b*\u200b way",
      "*Till 4* · offline since 14:05 GMT (12 m) · silenced by Ben until 15:17 GMT",
      "*Till 5* · offline since 14:05 GMT (12 m) · in the maintenance stock-take until 15:17 GMT: off",
    ]);
    const down = of({ reason: "update", standing: [standing("Till 5", planned)] });
    expect(linesOf(renderRoot(down))[0]).toBe("*🔴 Till 5 offline · Leeds Briggate — in maintenance*");
    const one = of({ reason: "update", standing: [standing("Till 3", acknowledged)] });
    expect(linesOf(renderRoot(one))[0]).toBe("*🔴 Till 3 offline · Leeds Briggate — acknowledged*");
  });

  test("says in a line what recovered meanwhile", () => {
    const lines = linesOf(renderRoot(of({ reason: "resolved", firing: [alertOf("A")], resolved: [endedOf("B")] })));
    expect(lines).toContain("Since the last notification: 1 recovered.");
    expect(lines[0]).toBe("*🔴 A offline · Leeds Briggate*");
  });

  test("of an end is green, without buttons, and has the time it took", () => {
    const over = of({
      reason: "resolved",
      resolved: [endedOf("Till 3")],
      conversation: { ...conversation, isOver: true },
    });
    const root = renderRoot(over, { actions: true });
    expect(buttonsOf(root).elements).toEqual([]);
    expect(root.attachments?.[0]?.color).toBe("#2e9e5b");
    expect(linesOf(root).slice(0, 2)).toEqual([
      "*✅ Till 3 recovered · Leeds Briggate — after 9 m*",
      "Notified 14:06–14:17 GMT (11 m); nothing of it fires any more.",
    ]);
  });

  test("of a summary says when it was true: it is not edited before all is over", () => {
    const lines = linesOf(renderRoot(of({ firing: [alertOf("A"), alertOf("B")], groups: 12 })));
    expect(lines[1]).toBe("As of 14:17 GMT; later changes are in messages of their own.");
  });

  test("has buttons that name its integration, group and conversation, in place of links", () => {
    const runbook = { annotations: { runbook_url: "https://wiki.example.com/a" } };
    const root = renderRoot(of({ firing: [alertOf("Till 3", runbook)] }), { actions: true });
    const { id, elements } = buttonsOf(root);
    expect(id).toMatch(/^lw:[0-9a-f]{12}:3f2a00c1d2e3f405:0123456789abcdef:[0-9a-z]+$/);
    expect(elements.map(({ action_id: action }) => action)).toEqual([
      "acknowledge",
      "silence",
      "why",
      "runbook",
      "open",
    ]);
    expect(elements[1]?.options?.map(({ text, value }) => [text.text, value])).toEqual([
      ["This camera (offline), 1 h", "alerts.1h"],
      ["This camera (offline), 4 h", "alerts.4h"],
      ["This camera (offline), until 08:00 there", "alerts.morning"],
      ["All of Leeds Briggate, 1 h", "places.1h"],
      ["All of Leeds Briggate, 4 h", "places.4h"],
      ["All of Leeds Briggate, until 08:00 there", "places.morning"],
    ]);
    expect(elements.map(({ url }) => url).filter((url) => url)).toEqual([
      "https://wiki.example.com/a",
      "https://lenswatch.example.com/recordings/54696c6c2033000000000000",
    ]);
    expect(JSON.stringify(root)).not.toMatch(/\|(Acknowledge|Status|Runbook|Open status page)>/);
    expect(buttonsOf(renderRoot(of({ firing: [alertOf("A")], groups: 40 }), { actions: true })).id).toContain(
      ":storm:",
    );
  });

  test("has no button to acknowledge what is, and none without actions", () => {
    const one = of({ standing: [standing("Till 3", acknowledged)] });
    const { elements } = buttonsOf(renderRoot(one, { actions: true }));
    expect(elements.map(({ action_id: action }) => action)).toEqual(["silence", "why", "open"]);
    expect(buttonsOf(renderRoot(one)).elements).toEqual([]);
  });

  test("says who acknowledged below a silence too, and has no button to do it again", () => {
    const silenced = { reason: "silenced", by: "6f1e", author: "Ben", until: NOW + HOUR } as const;
    const both = of({ standing: [standing("Till 3", { ...silenced, acknowledged })] });
    expect(linesOf(renderRoot(both)).slice(1).join(" ")).toMatch(
      /acknowledged by Ana until 15:00 GMT: on .* way · silenced by Ben until 15:17 GMT/,
    );
    const actions = (one: Notification) =>
      buttonsOf(renderRoot(one, { actions: true })).elements.map((of) => of.action_id);
    expect(actions(both)).toEqual(["silence", "why", "open"]);
    expect(actions(of({ standing: [standing("Till 3", silenced)] }))).toContain("acknowledge");
  });
});

describe("a reply", () => {
  test("names the new alerts alone, and mentions beside the title", () => {
    const changes = { reason: "more", firing: [alertOf("Till 3", { isNew: false }), alertOf("Till 4")] } as const;
    const reply = renderReply(of(changes), { mention: "<!here>" });
    expect(linesOf(reply)).toEqual(["*🔴 Till 4 offline · Leeds Briggate* <!here>", "Since 14:05 GMT (12 m)"]);
    expect(reply.text?.split("\n")[0]).toBe("🔴 Till 4 offline · Leeds Briggate <!here>");
  });

  test("of ends says how many alerts are left, and names a few", () => {
    const changes = { resolved: [endedOf("B")], firing: [alertOf("A", { isNew: false })] };
    const reply = renderReply(of({ reason: "resolved", ...changes, standing: [standing("C", acknowledged)] }));
    expect(linesOf(reply)).toEqual([
      "*✅ B recovered · Leeds Briggate — after 9 m*",
      "2 alerts still firing: A · Leeds Briggate, C · Leeds Briggate.",
      "Was offline 14:05–14:14 GMT",
    ]);
    const many = ["A", "C", "D", "<!channel>"].map((name) => alertOf(name, { isNew: false }));
    const lineOf = (firing: typeof many) =>
      linesOf(renderReply(of({ reason: "resolved", resolved: [endedOf("B")], firing })))[1];
    expect(lineOf(many)).toBe("4 alerts still firing.");
    expect(lineOf(many.slice(3))).toBe("1 alert still firing: &lt;!channel&gt; · Leeds Briggate.");
  });

  test("of a reminder is about all that fires", () => {
    const firing = ["A", "B"].map((name) => alertOf(name, { isNew: false }));
    expect(linesOf(renderReply(of({ reason: "reminder", firing })))[0]).toBe(
      "*🔴 Reminder: 2 recordings still offline · Leeds Briggate — for 12 m*",
    );
  });
});

test("hostile words of people and of the service stay text, within the limits", () => {
  const nasty = "<!channel> *b* _i_ `c` <https://evil.example|x> \u202e & ".repeat(60);
  const labels = { recording: nasty, location: nasty, severity: nasty };
  const firing = Array.from({ length: 60 }, (_, i) => alertOf(`${i}`, { labels, annotations: { runbook_url: nasty } }));
  const suppressedBy = { reason: "acknowledged", by: nasty, comment: nasty } as const;
  for (const many of [1, 5, 60]) {
    const some = firing.slice(0, many);
    const changes = { firing: some, standing: some.map((alert) => ({ ...alert, suppressedBy })) };
    for (const body of [renderRoot(of(changes), { actions: true }), renderReply(of({ reason: "more", ...changes }))])
      expect(slackProblems(body as SlackBody)).toEqual([]);
  }
});
