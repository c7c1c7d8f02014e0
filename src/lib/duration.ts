/** Durations: milliseconds in code, `30s`, `5m`, `1h30m`, `1d`, `1w`, `1y` in Prometheus' notation. */

const UNITS = [
  ["y", 365 * 86_400_000],
  ["w", 7 * 86_400_000],
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
  ["ms", 1],
] as const;

const DURATION = /^(?:(\d+)y)?(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/;

/** Milliseconds of a Prometheus duration (`0` needs no unit); undefined for any other text. */
export function parseDuration(text: string): number | undefined {
  if (text === "0") return 0;
  const match = text === "" ? null : DURATION.exec(text);
  if (!match) return undefined;
  return UNITS.reduce((sum, [, ms], i) => sum + Number(match[i + 1] ?? 0) * ms, 0);
}

/** The shortest Prometheus spelling of a whole number of milliseconds: 5400000 → `1h30m`. */
export function formatDuration(ms: number): string {
  let rest = Math.round(ms);
  if (rest === 0) return "0s";
  let text = "";
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size);
    if (unit === "y" || unit === "w" ? rest % size === 0 && count > 0 : count > 0) {
      text += `${count}${unit}`;
      rest -= count * size;
    }
  }
  return text;
}

/** A duration for people, at most two units, never rounded up: `12 s`, `3 m 20 s`, `9 h 20 m`, `2 d 4 h`. */
export function humanDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "m"],
    [seconds % 60, "s"],
  ];
  const first = parts.findIndex(([count]) => count > 0);
  if (first < 0) return "0 s";
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(" ");
}
