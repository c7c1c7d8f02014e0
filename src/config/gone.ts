/** Keys that the configuration once had, and what takes their place. */
import type { Path } from "./problem.ts";

/** By path, without the positions in lists. */
const gone: ReadonlyMap<string, string> = new Map([
  ["slo", "rules on overall_uptime notify of lost time, and `lenswatch report` shows it"],
  ["rules.when.slo_burn", "a rule on overall_uptime notifies of lost time, and `lenswatch report` shows it"],
  [
    "http.web_config_file",
    "`tls` with `cert_file` and `key_file`; tokens with scopes, and a proxy in front for the rest",
  ],
  ["rules.when.counts.implausible", "a rule on counts is about too few visits; too many were wrong too often"],
  ["digests.untrusted_below", "digests do not list days of counts; the page of a location shows its uptime by day"],
]);

/** The replacement of a key that is gone; undefined for any other. */
export function insteadOf(path: Path): string | undefined {
  return gone.get(path.filter((step) => typeof step === "string").join("."));
}
