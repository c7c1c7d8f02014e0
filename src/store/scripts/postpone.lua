-- Ends a claim without a message: the group stays due, at `at`. With a code, the failure is written down where it
-- belongs: the endpoint, the integration, or this group alone.
-- KEYS[1] claim of the integration
-- ARGV    prefix, integration, group, token, now, at, code ('' none: only waiting), detail, scope, failed backoff key
-- Returns how often in a row it has failed there
local integration, group, token = ARGV[2], ARGV[3], ARGV[4]
local key = group_key(integration, group)
if redis.call('HGET', key, 'claimed') == token then
  redis.call('ZADD', p .. 'due:' .. integration, ARGV[6], group)
  redis.call('HDEL', key, 'want', 'claimed')
end
if redis.call('GET', KEYS[1]) == token then redis.call('DEL', KEYS[1]) end
if ARGV[7] == '' then return 0 end
if ARGV[9] == 'message' then
  redis.call('HSET', p .. 'trouble:' .. integration, group, cjson.encode({since = tonumber(ARGV[5]), code = ARGV[7], detail = ARGV[8]}))
  return redis.call('HINCRBY', key, 'fails', 1)
end
local backoff = p .. 'backoff:' .. ARGV[10]
redis.call('HSETNX', backoff, 'since', ARGV[5])
redis.call('HSET', backoff, 'until', ARGV[6], 'code', ARGV[7], 'detail', ARGV[8])
return redis.call('HINCRBY', backoff, 'failures', 1)
