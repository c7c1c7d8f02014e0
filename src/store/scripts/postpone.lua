-- Ends a claim without a message: the group stays due, at `at`. With a code, the failure is written down where it
-- belongs: the endpoint, the integration, or this group alone. Nothing happens once the claim is not ours any more.
-- KEYS[1] claim of the integration
-- ARGV    prefix, integration, group, token, now, at, code ('' none: only waiting), detail, scope, failed backoff key,
--         lines of the incident log
-- Returns how often in a row it has failed there
local integration, group, token = ARGV[2], ARGV[3], ARGV[4]
local key = group_key(integration, group)
-- Who fails is tried again within minutes: a failure this old belongs to what is configured no more.
local KEPT_MS = 7 * 86400000
if redis.call('HGET', key, 'claimed') ~= token then return 0 end
write_log(ARGV[11])
-- Let go meanwhile (reroute.lua): nothing is to be said there any more.
if group ~= 'started' and redis.call('PTTL', key) > 0 then
  redis.call('DEL', key)
  release(token)
  return 0
end
redis.call('ZADD', p .. 'due:' .. integration, ARGV[6], group)
local began = tonumber(redis.call('HGET', key, 'began') or 0)
redis.call('HDEL', key, 'want', 'claimed', 'began')
-- There was something to say: from now on it is late.
redis.call('HSETNX', key, 'since', ARGV[5])
release(token)
if ARGV[7] == '' then return 0 end
if ARGV[9] == 'message' then
  local trouble = p .. 'trouble:' .. integration
  local known = redis.call('HGET', trouble, group)
  local since = known and cjson.decode(known).since or tonumber(ARGV[5])
  redis.call('HSET', trouble, group, cjson.encode({since = since, code = ARGV[7], detail = ARGV[8]}))
  redis.call('PEXPIRE', trouble, KEPT_MS)
  return redis.call('HINCRBY', key, 'fails', 1)
end
local backoff = p .. 'backoff:' .. ARGV[10]
local known = redis.call('HMGET', backoff, 'until', 'failedAt')
redis.call('HSETNX', backoff, 'since', ARGV[5])
redis.call('HSET', backoff, 'until', math.max(tonumber(known[1] or 0), tonumber(ARGV[6])), 'code', ARGV[7], 'detail', ARGV[8])
redis.call('PEXPIRE', backoff, KEPT_MS)
-- Many may send there side by side: who began before the last failure met the same trouble, not another one.
if known[2] and began < tonumber(known[2]) then return tonumber(redis.call('HGET', backoff, 'failures')) end
redis.call('HSET', backoff, 'failedAt', ARGV[5])
return redis.call('HINCRBY', backoff, 'failures', 1)
