/** Findings become problems: with their place in the file, in its order, and certainly without a secret. */
import type { ConfigDocument, Place } from "./document.ts";
import { type Finding, type Path, pathKey, pathText } from "./finding.ts";
import type { Problem } from "./problem.ts";

/** `secrets` are the values that were read for secret keys: none of them is left in any text. */
export function toProblems(
  findings: readonly Finding[],
  document: Pick<ConfigDocument, "places" | "position">,
  options: { file: string; secrets: readonly string[] },
): Problem[] {
  const masked = (text: string) =>
    options.secrets.reduce(
      (rest, secret) => (secret.length < 4 ? rest : rest.replaceAll(secret, "[secret]")),
      text,
    );
  const problems = firstPerPath(findings).map((finding): Problem => {
    const offset = finding.offset ?? offsetOf(finding, document.places);
    return {
      kind: finding.kind,
      file: options.file,
      ...document.position(offset),
      path: masked(pathText(finding.path)),
      found: masked(finding.found),
      expected: masked(finding.expected),
      ...(finding.suggestion === undefined ? {} : { suggestion: masked(finding.suggestion) }),
    };
  });
  return problems.sort((a, b) => a.line - b.line || a.column - b.column);
}

/** What is wrong with a value twice over is said once, the cause before its consequence. */
function firstPerPath(findings: readonly Finding[]): readonly Finding[] {
  const seen = new Set<string>();
  const unread = new Set<string>();
  return findings.filter((finding) => {
    if (finding.path.length === 0 || finding.offset !== undefined) return true;
    const path = pathKey(finding.path);
    if (seen.has(path) || finding.path.some((_, end) => unread.has(pathKey(finding.path.slice(0, end)))))
      return false;
    seen.add(path);
    if (finding.kind === "environment" || finding.kind === "secret") unread.add(path);
    return true;
  });
}

function offsetOf(finding: Finding, places: ReadonlyMap<string, Place>): number {
  const place = places.get(pathKey(finding.path));
  if (place)
    return finding.atKey || place.kind === "nothing" ? (place.keyOffset ?? place.offset) : place.offset;
  return parentOffset(finding.path, places);
}

/** A key that is missing is missed at the key of its mapping. */
function parentOffset(path: Path, places: ReadonlyMap<string, Place>): number {
  for (let length = path.length - 1; length >= 0; length -= 1) {
    const place = places.get(pathKey(path.slice(0, length)));
    if (place) return place.keyOffset ?? place.offset;
  }
  return 0;
}
