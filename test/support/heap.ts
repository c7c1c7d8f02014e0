/** Heap size, for tests of memory growth. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Gives a function that collects garbage and returns the bytes in use. */
export function heapMeter(): () => number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  return () => {
    collect();
    collect();
    return process.memoryUsage().heapUsed;
  };
}
