/** The shipped dashboard: its panels, queries and variables. */
import { readFileSync } from "node:fs";

export interface Target {
  readonly refId: string;
  readonly expr: string;
  readonly legendFormat: string;
  readonly instant: boolean;
  readonly range: boolean;
  readonly datasource: { readonly type: string; readonly uid: string };
}

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string; readonly noValue?: string } };
  readonly targets?: readonly Target[];
}

export interface Variable {
  readonly name: string;
  readonly type: string;
  readonly definition?: string;
  readonly allValue?: string;
}

export interface Dashboard {
  readonly uid: string;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly Variable[] };
  readonly __requires: readonly { readonly type: string; readonly id: string }[];
}

export const dashboard: Dashboard = JSON.parse(
  readFileSync(new URL("../../config/grafana/lenswatch.json", import.meta.url), "utf8"),
);

/** All panels but rows. */
export const panels: readonly Panel[] = dashboard.panels.filter(({ type }) => type !== "row");

/** A query of a panel, with a name for failure messages. */
export const queries = panels.flatMap((panel) =>
  (panel.targets ?? []).map((target) => ({ name: `${panel.title} ${target.refId}`, panel, target })),
);

/** The text with Grafana's variables filled in; others stay. */
export function fillIn(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$(?:\{(\w+)\}|(\w+))/g, (all, braced, bare) => values[braced ?? bare] ?? all);
}
