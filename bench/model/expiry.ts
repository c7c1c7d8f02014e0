/** Keys that expire, in virtual time: Redis counts real time, which hardly passes in a model. */
import type { Redis } from "ioredis";
import type { VirtualTime } from "./virtual-time.ts";

const EVERY_MS = 600_000;

const READ = `
local found = {}
for _, key in ipairs(redis.call('KEYS', ARGV[1])) do
  local left = redis.call('PTTL', key)
  if left > 0 then found[#found + 1] = {key, left} end
end
return found`;

/** Ages the keys every ten minutes; one that was set since the last time begins to age then. */
export function ageKeys(redis: Redis, prefix: string, time: VirtualTime): void {
  let known = new Map<string, number>();
  const round = async () => {
    const found = (await redis.eval(READ, 0, `{${prefix}}:*`)) as [string, number][];
    const next = new Map<string, number>();
    for (const [key, left] of found) {
      const before = known.get(key);
      const aged = before === undefined || left > before ? left : left - EVERY_MS;
      if (aged <= 0) await redis.del(key);
      else if (aged !== left) await redis.pexpire(key, aged);
      if (aged > 0) next.set(key, aged);
    }
    known = next;
  };
  const again = () =>
    time.after(EVERY_MS, () => {
      round().then(again, () => {});
    });
  again();
}
