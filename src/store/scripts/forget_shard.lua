-- Forgets a shard that has nothing left, unless it was written since.
-- KEYS[1] document hash; ARGV nonce it was left with, attempts, uptime history, uptime figures, shard
-- Returns 1 when it was forgotten
if redis.call('HGET', KEYS[1], 'n') ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1], ARGV[3], ARGV[4])
redis.call('HDEL', ARGV[2], 'shard:' .. ARGV[5], 'uptime:' .. ARGV[5], 'details:' .. ARGV[5])
return 1
