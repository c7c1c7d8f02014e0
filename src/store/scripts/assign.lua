-- Gives each location not assigned yet a place in a shard with room, opening new shards as needed, and takes the
-- places of those that left.
-- KEYS[1] assignments; ARGV most per shard, JSON [location added], JSON [location removed]
-- Returns the assignments as a flat list
local most = tonumber(ARGV[1])
for _, location in ipairs(cjson.decode(ARGV[3])) do redis.call('HDEL', KEYS[1], location) end
local counts, place = {}, {}
local flat = redis.call('HGETALL', KEYS[1])
for i = 1, #flat, 2 do
  place[flat[i]] = true
  counts[tonumber(flat[i + 1])] = (counts[tonumber(flat[i + 1])] or 0) + 1
end
local shard = 0
for _, location in ipairs(cjson.decode(ARGV[2])) do
  if not place[location] then
    while (counts[shard] or 0) >= most do shard = shard + 1 end
    counts[shard] = (counts[shard] or 0) + 1
    place[location] = true
    redis.call('HSET', KEYS[1], location, shard)
  end
end
return redis.call('HGETALL', KEYS[1])
