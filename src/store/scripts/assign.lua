-- Assigns each new location to a shard with a free place, opening new shards as needed, and deletes the assignments of
-- those that left.
-- KEYS[1] assignments; args most (per shard), added [location], removed [location]
-- Returns nil
for _, location in ipairs(args.removed) do redis.call('HDEL', KEYS[1], location) end
local counts, assigned = {}, {}
local flat = redis.call('HGETALL', KEYS[1])
for i = 1, #flat, 2 do
  local shard = tonumber(flat[i + 1])
  assigned[flat[i]] = shard
  counts[shard] = (counts[shard] or 0) + 1
end
local shard = 0
for _, location in ipairs(args.added) do
  if not assigned[location] then
    while (counts[shard] or 0) >= args.most do shard = shard + 1 end
    counts[shard] = (counts[shard] or 0) + 1
    assigned[location] = shard
    redis.call('HSET', KEYS[1], location, shard)
  end
end

