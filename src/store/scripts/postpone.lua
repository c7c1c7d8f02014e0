-- Ends a claim without a message: the group is due again at `at`. A failure is counted where it belongs: the endpoint,
-- the integration, or this group alone. Changes nothing once the claim is another's.
-- KEYS[1] claim of the integration
-- args    integration, endpoint, group, token, now, at, failure {code, detail, scope}, overMs (a backoff that ended longer
--         ago belongs to an earlier failure), isUnsure (a message may have been accepted), joint (the id of the conversation
--         that it began, where it summed up several groups), log (log.lua)
-- Returns how often in a row it has failed there
local integration, group, now, failure = args.integration, args.group, args.now, args.failure
local key = group_key(integration, group)
-- A failure is retried within minutes: one this old belongs to what is not configured any more.
local KEPT_MS = 7 * 86400000
if redis.call('HGET', key, 'claimed') ~= args.token then return 0 end
write_log(args.log)
-- Removed meanwhile (reroute.lua): nothing is to be sent there any more.
if group ~= 'started' and redis.call('PTTL', key) > 0 then
  redis.call('DEL', key)
  release(args.token)
  return 0
end
redis.call('ZADD', p .. 'due:' .. integration, args.at, group)
local began = tonumber(redis.call('HGET', key, 'began') or 0)
if args.isUnsure then
  redis.call('HSETNX', key, 'unsure', began)
  redis.call('HSET', key, 'joint', args.joint or '')
end
redis.call('HDEL', key, 'want', 'claimed', 'began', 'touched', 'later')
-- There was something to notify of: from now on it is late.
redis.call('HSETNX', key, 'since', now)
release(args.token)
if not failure then return 0 end
if failure.scope == 'message' then
  local trouble = p .. 'trouble:' .. integration
  local known = redis.call('HGET', trouble, group)
  local since = known and cjson.decode(known).since or now
  redis.call('HSET', trouble, group, cjson.encode({since = since, code = failure.code, detail = failure.detail}))
  redis.call('PEXPIRE', trouble, KEPT_MS)
  return redis.call('HINCRBY', key, 'fails', 1)
end
local backoff = p .. 'backoff:' .. (failure.scope == 'endpoint' and args.endpoint or integration)
local known = redis.call('HMGET', backoff, 'until', 'failedAt')
-- Nothing was due there for as long: this is another failure.
if known[1] and tonumber(known[1]) + args.overMs < now then
  redis.call('DEL', backoff)
  known = {}
end
local backoff_until = math.max(tonumber(known[1] or 0), args.at)
redis.call('HSETNX', backoff, 'since', now)
redis.call('HSET', backoff, 'until', backoff_until, 'code', failure.code, 'detail', failure.detail)
redis.call('PEXPIRE', backoff, KEPT_MS)
-- Sends side by side that began before the last failure met the same trouble, not another one.
if known[2] and began < tonumber(known[2]) then return tonumber(redis.call('HGET', backoff, 'failures')) end
redis.call('HSET', backoff, 'failedAt', now)
return redis.call('HINCRBY', backoff, 'failures', 1)
