/** The ids of a root message's buttons: what was pressed, of which integration, group and conversation. */
import { createHash } from "node:crypto";
import type { Instant } from "../../lib/clock.ts";
import { type SilenceScope, silenceScopeKeys } from "../silence-scope.ts";

/** `action_id`s of the elements; `runbook` and `open` are links, which Slack reports as pressed all the same. */
export type SlackAction =
  | "acknowledge"
  | "silence"
  | `silence.${SilenceScope["key"]}`
  | "why"
  | "runbook"
  | "open"
  | "undo"
  | "undo.acknowledgement"
  | "extend"
  | "extend.morning";

interface BlockTarget {
  /** 12 hex digits, `slackIntegrationHash`. */
  readonly integration: string;
  /** The group's id; `storm` of a summary of many. */
  readonly group: string;
  /** The conversation's id. */
  readonly conversation: string;
  /** The time at which the message was written: it shows no alert that fired later. */
  readonly seen: Instant;
}

/** Slack's longest `block_id`, characters. */
const LONGEST = 255;

/** 12 hex digits that stand for an integration: its id may be long, and names a person or a channel. */
export function slackIntegrationHash(integrationId: string): string {
  return createHash("sha256").update(integrationId).digest("hex").slice(0, 12);
}

/** The `block_id` of a root's actions; undefined where a group's id has no place in it. */
export function makeBlockId(integrationId: string, group: string, conversation: string, seen: Instant) {
  const id = `lw:${slackIntegrationHash(integrationId)}:${group}:${conversation}:${Math.ceil(seen).toString(36)}`;
  return parseBlockId(id) && id;
}

/** Undefined for a `block_id` that is not one of ours. */
export function parseBlockId(text: string): BlockTarget | undefined {
  if (text.length > LONGEST) return undefined;
  const [, integration, group, conversation, seen] =
    /^lw:([0-9a-f]{12}):([\w./-]+):([0-9a-f]{16}):([0-9a-z]{1,10})$/.exec(text) ?? [];
  if (!integration || !group || !conversation || !seen) return undefined;
  return { integration, group, conversation, seen: Number.parseInt(seen, 36) };
}

/** The scope that a button of the silence form names. */
export function silenceScopeOf(actionId: string): SilenceScope["key"] | undefined {
  return silenceScopeKeys.find((key) => actionId === `silence.${key}`);
}
