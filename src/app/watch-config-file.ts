/** Reloads the configuration when its files change or on request; an invalid one is refused and logged. */
import type { AuditOrigin } from "../alerting/audit.ts";
import { ConfigError, formatProblem } from "../config/problem.ts";
import type { ConfigSource } from "../config/source.ts";
import type { ReloadResult } from "../http/deps.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import { inSequence, oneAtATime } from "../lib/one-at-a-time.ts";
import type { App } from "./app.ts";

/** A change counts once it was seen at two checks in a row: a file may be half written at the first. */
const CHECK_MS = 2_000;

export type Following = ReturnType<typeof watchConfigFile>;

/** Checks the files every `everyMs` (2 s unless given) until `stop`. */
export function watchConfigFile(deps: {
  readonly source: ConfigSource;
  readonly app: Pick<App, "reload" | "refused" | "audit">;
  readonly log: Logger;
  readonly everyMs?: number;
}) {
  const { source } = deps;
  let seen: string | undefined;
  let isStopped = false;

  const load = async (by: AuditOrigin): Promise<ReloadResult> =>
    isStopped ? { outcome: "refused", problems: ["lenswatch is stopping."] } : loadOnce(deps, by);

  const queued = inSequence();

  async function check(): Promise<void> {
    const now = await source.contentHash();
    const isChanged = now !== source.loadedHash();
    if (isChanged && now === seen) await load({ actor: { via: "file", name: "a changed file" } });
    seen = isChanged ? now : undefined;
  }

  const timer = setInterval(
    oneAtATime(() => queued(check)),
    deps.everyMs ?? CHECK_MS,
  );

  return {
    /** Loads it now, changed or not; resolves, never rejects, with the outcome. */
    reload: (by: AuditOrigin) => queued(() => load(by)),
    stop(): void {
      isStopped = true;
      clearInterval(timer);
    },
  };
}

async function loadOnce(
  { source, app, log }: Parameters<typeof watchConfigFile>[0],
  by: AuditOrigin,
): Promise<ReloadResult> {
  const entry = { ...by, action: "reload" } as const;
  try {
    const { config, warnings } = await source.load();
    for (const warning of warnings) log.warn({ warning }, "configuration accepted with a warning");
    const changed = await app.reload(config);
    app.audit({ ...entry, outcome: "done", after: { changed: changed.join(", ") || "nothing" } });
    return { outcome: "loaded" };
  } catch (thrown) {
    app.refused();
    app.audit({ ...entry, outcome: "refused", reason: "invalid_configuration" });
    const err = toError(thrown);
    const problems = err instanceof ConfigError ? err.problems.map(formatProblem) : [];
    log.error({ err, problems }, "configuration refused, keeping the active one");
    return { outcome: "refused", problems: problems.length > 0 ? problems : [err.message] };
  }
}
