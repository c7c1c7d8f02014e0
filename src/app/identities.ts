/**
 * Ids are what alerts, groups and the notification log are stored under. Each stays with the rule or the integration it
 * was first given to, whatever its position and the name of its receiver become.
 */

import type { Integration } from "../alerting/route.ts";
import type { Rule } from "../health/model.ts";
import type { Identities } from "../store/identities.ts";
import type { Store } from "../store/store.ts";
import type { Senders } from "./integrations.ts";
import type { Configured } from "./job-context.ts";

interface Identified {
  /** The id, unless another one has it. */
  readonly name: string;
  /** The features that an earlier configuration is compared by, the most telling first. */
  readonly traits: readonly string[];
}

/** The ids, in the order of `wanted`: by the first trait in common with one of `known`, else by order. */
function keepIds(wanted: readonly Identified[], known: Identities): string[] {
  const free = new Map(Object.entries(known));
  const kept = new Map<Identified, string>();
  const levels = Math.max(0, ...wanted.map(({ traits }) => traits.length));
  for (let level = 0; level < levels; level++) {
    const alike = Map.groupBy(free, ([, traits]) => traits[level]);
    for (const one of wanted) {
      const same = !kept.has(one) && alike.get(one.traits[level])?.shift();
      if (!same) continue;
      kept.set(one, same[0]);
      free.delete(same[0]);
    }
  }
  const taken = new Set(Object.keys(known));
  return wanted.map((one) => kept.get(one) ?? newId(one.name, taken));
}

function newId(name: string, taken: Set<string>): string {
  let id = name;
  for (let n = 2; taken.has(id); n++) id = `${name}#${n}`;
  taken.add(id);
  return id;
}

function ruleTraits({ alert, labels, when }: Rule): string[] {
  const said = JSON.stringify(Object.entries(labels).sort());
  const condition = JSON.stringify(when);
  return [`${alert} ${said} ${condition}`, `${alert} ${said}`, `${alert} ${condition}`, alert];
}

/** The last: an entry in the same place whose URL changed has another secret. */
function integrationTraits({ name, type, endpoint, recipient, channel }: Integration): string[] {
  const reached = `${type} ${recipient ?? channel ?? endpoint}`;
  return [`${reached} ${name}`, reached, name];
}

/** The rules under the ids of those that are stored. */
export function identifyRules(rules: readonly Rule[], known: Identities): Rule[] {
  const wanted = rules.map((rule) => ({ name: rule.alert, traits: ruleTraits(rule) }));
  const ids = keepIds(wanted, known);
  return rules.map((rule, i) => ({ ...rule, id: ids[i] ?? rule.id }));
}

function identifySenders(senders: Senders, known: Identities): Senders {
  const before = [...senders.byId.values()];
  const wanted = before.map(({ integration: one }) => ({ name: one.name, traits: integrationTraits(one) }));
  const ids = keepIds(wanted, known);
  const made = before.map((sender, i) => {
    const { integration: one } = sender;
    return { ...sender, integration: { ...one, id: ids[i] ?? one.id } };
  });
  const byId = new Map(made.map((sender) => [sender.integration.id, sender]));
  return { ...senders, list: made.map(({ integration }) => integration), byId };
}

/** The same under the ids that are stored; where it may, new ones are stored before anything is done under them. */
export async function identify(
  store: Store["identities"],
  { config, senders, ...rest }: Configured,
  mayStore: boolean,
): Promise<Configured> {
  let identified = { config, senders };
  await store.update((known, owing) => {
    const rules = identifyRules(config.rules, known.rules);
    identified = { config: { ...config, rules }, senders: identifySenders(senders, known.integrations) };
    const present = Object.fromEntries(identified.senders.list.map((one) => [one.id, integrationTraits(one)]));
    // One that left and may owe ends is known by where it sends, no longer by its place.
    const left = Object.entries(known.integrations).filter(([id]) => owing.has(id) && !Object.hasOwn(present, id));
    const reached = Object.fromEntries(left.map(([id, [, where = ""]]) => [id, ["", where]]));
    return {
      rules: Object.fromEntries(rules.map((rule) => [rule.id, ruleTraits(rule)])),
      integrations: { ...present, ...reached },
    };
  }, mayStore);
  return { ...rest, ...identified };
}
