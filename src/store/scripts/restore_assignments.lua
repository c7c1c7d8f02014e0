-- Restores lost assignments of locations that the inventory still lists.
-- KEYS[1] assignments; args lost [{location, shard}]. Returns the list of locations that were restored.
local restored = {}
for _, lost in ipairs(args.lost) do
  if redis.call('HEXISTS', p .. 'locations:seen', lost.location) == 1
    and redis.call('HSETNX', KEYS[1], lost.location, lost.shard) == 1 then
    restored[#restored + 1] = lost.location
  end
end
return restored
