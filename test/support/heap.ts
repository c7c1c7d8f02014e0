/** What lives on the heap, for tests of what may pile up. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Gives a function that collects all garbage and tells how many bytes are left. */
export function heapMeter(): () => number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  return () => {
    collect();
    collect();
    return process.memoryUsage().heapUsed;
  };
}
