/** The configuration is loaded anew when its files change or somebody asks for it; a bad one is refused, and said. */

import { ConfigError, formatProblem } from "../config/problem.ts";
import type { ConfigSource } from "../config/source.ts";
import type { LoadedAnew } from "../http/deps.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import type { App } from "./app.ts";

/** A change counts once it was seen at two looks in a row: a file half written is nobody's configuration. */
const LOOK_MS = 2_000;

export interface FollowConfigDeps {
  readonly source: ConfigSource;
  readonly app: Pick<App, "reload" | "refused">;
  readonly log: Logger;
  /** Between two looks, 2 s unless given. */
  readonly everyMs?: number;
}

export interface Following {
  /** Loads it now, changed or not; resolves, never rejects, with what became of it. */
  reload(): Promise<LoadedAnew>;
  stop(): void;
}

/** Looks at the files again and again until `stop`. */
export function followConfig(deps: FollowConfigDeps): Following {
  const { source, app, log } = deps;
  let seen: string | undefined;
  let turn: Promise<unknown> = Promise.resolve();
  let stopped = false;

  async function load(): Promise<LoadedAnew> {
    if (stopped) return { outcome: "refused", problems: ["lenswatch is stopping."] };
    try {
      const { config, warnings } = await source.load();
      for (const warning of warnings) log.warn({ warning }, "the configuration is taken, with a warning");
      await app.reload(config);
      return { outcome: "loaded" };
    } catch (thrown) {
      app.refused();
      const err = toError(thrown);
      const problems = err instanceof ConfigError ? err.problems.map(formatProblem) : [];
      log.error({ err, problems }, "the configuration was refused; the one before stays in force");
      return { outcome: "refused", problems: problems.length > 0 ? problems : [err.message] };
    }
  }

  async function look(): Promise<void> {
    const now = await source.look();
    const isNews = now !== source.loaded();
    if (isNews && now === seen) await load();
    seen = isNews ? now : undefined;
  }

  const inSequence = <T>(work: () => Promise<T>): Promise<T> => {
    const done = turn.then(work, work);
    turn = done;
    return done;
  };
  let looking = false;
  const timer = setInterval(() => {
    if (looking) return;
    looking = true;
    void inSequence(() =>
      look().finally(() => {
        looking = false;
      }),
    );
  }, deps.everyMs ?? LOOK_MS);

  return {
    reload: () => inSequence(load),
    stop() {
      stopped = true;
      clearInterval(timer);
    },
  };
}
