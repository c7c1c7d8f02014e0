import { unlessThrown } from "./errors.ts";

const BEGINS_A_VALUE = new Uint8Array(256);
for (const mark of "[{,:") BEGINS_A_VALUE[mark.charCodeAt(0)] = 1;

/** JSON has more lists, objects, properties and items than that, before it is parsed; those in texts count too. */
export function hasTooManyValues(json: Uint8Array, most: number): boolean {
  if (json.length <= most) return false;
  let values = 0;
  for (const byte of json) values += BEGINS_A_VALUE[byte] ?? 0;
  return values > most;
}

/** The value; undefined where it is not JSON. */
export function tryJson(text: string): unknown {
  return unlessThrown((): unknown => JSON.parse(text));
}
