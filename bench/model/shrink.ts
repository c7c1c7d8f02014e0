/** Drops actions of a failed run while it still fails in the same way. */
import type { Outcome, Plan } from "./run.ts";

/** Runs that are spent on it. */
const MOST_TRIES = 60;

export async function shrink(
  plan: Plan,
  outcome: Outcome,
  run: (plan: Plan) => Promise<Outcome>,
  most = MOST_TRIES,
): Promise<Outcome> {
  let [best, tries] = [outcome, 0];
  let { actions } = plan;
  const wanted = kindOf(outcome);
  for (let size = Math.ceil(actions.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < actions.length && tries < most; tries++) {
      const fewer = actions.toSpliced(from, size);
      const again = await run({ ...plan, actions: fewer });
      if (kindOf(again) === wanted) [best, actions] = [again, fewer];
      else from += size;
    }
  }
  return best;
}

/** The invariant and the rule that failed first: other subjects may fail as well. */
function kindOf({ failures: [first] }: Outcome): string | undefined {
  return first && `${first.invariant} ${first.what.replace(/^\S+/, "").replace(/\d+/g, "n")}`;
}
