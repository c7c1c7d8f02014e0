-- Puts back the places of locations that lost theirs without having left: those the inventory still knows.
-- KEYS[1] assignments; ARGV key of the locations seen, JSON [[location, shard]]
-- Returns the locations that were put back
local put = {}
for _, one in ipairs(cjson.decode(ARGV[2])) do
  local location, shard = one[1], one[2]
  if redis.call('HEXISTS', ARGV[1], location) == 1 and redis.call('HSETNX', KEYS[1], location, shard) == 1 then
    put[#put + 1] = location
  end
end
return put
