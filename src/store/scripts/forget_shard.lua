-- Deletes a shard that is empty, unless it was written since.
-- KEYS[1] document hash; args nonce (of its last state), shard. Returns 1 when it was deleted.
if redis.call('HGET', KEYS[1], 'n') ~= args.nonce then return 0 end
local shard = args.shard
redis.call('DEL', KEYS[1], p .. 'uptime:' .. shard, p .. 'figures:' .. shard)
redis.call('HDEL', p .. 'groups', shard)
redis.call('HDEL', p .. 'counts-assessed', shard)
redis.call('HDEL', p .. 'attempts', 'shard:' .. shard, 'uptime:' .. shard, 'details:' .. shard, 'counts:' .. shard)
return 1
