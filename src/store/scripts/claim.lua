-- Takes one due group of an integration under a lease; nobody else sends there meanwhile. Asked again with the same
-- token (its reply was lost), it gives the same group again.
-- KEYS[1] claim of the integration: "<token>\n<group>"
-- ARGV    prefix, integration, endpoint, token, now, lease (ms), pace of the endpoint (ms, 0 none)
-- Returns {'busy' | 'backoff' | 'pace', until} | {'idle', next due or ''} |
--         {'group', group, labels, repeat, since, fails, failures, episodes, alerts, told, interval, held,
--         maybe, interrupted}
local integration, endpoint, token = ARGV[2], ARGV[3], ARGV[4]
local now, lease, step = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])

local failures, wait = 0, 0
for _, scope in ipairs({endpoint, integration}) do
  local backoff = redis.call('HMGET', p .. 'backoff:' .. scope, 'until', 'failures')
  wait = math.max(wait, tonumber(backoff[1] or 0))
  failures = math.max(failures, tonumber(backoff[2] or 0))
end

local group
local holder = redis.call('GET', KEYS[1])
if holder then
  local held_by, held = split_place(holder)
  if held_by ~= token then return {'busy', tostring(now + math.max(1, redis.call('PTTL', KEYS[1])))} end
  group = held
else
  local due = redis.call('ZRANGE', p .. 'due:' .. integration, 0, 0, 'WITHSCORES')
  if #due == 0 then return {'idle', ''} end
  if tonumber(due[2]) > now then return {'idle', due[2]} end
  if wait > now then return {'backoff', tostring(wait)} end
  -- Who is first stays first: a group that had to wait for its pace token would fall behind all the others.
  local free = step > 0 and tonumber(redis.call('GET', p .. 'pace:' .. endpoint) or 0) or 0
  if free > now and free <= now + 2 * step then return {'pace', tostring(free)} end
  group = due[1]
  redis.call('SET', KEYS[1], token .. '\n' .. group, 'PX', lease)
end

local key = group_key(integration, group)
redis.call('ZADD', p .. 'due:' .. integration, now + lease, group)
redis.call('HDEL', key, 'want')
-- A claim that neither settled nor gave back may have got its message out before it died.
local before = redis.call('HGET', key, 'claimed')
if before and before ~= token then redis.call('HSET', key, 'interrupted', '1') end
redis.call('HSET', key, 'claimed', token, 'began', now)
-- Served from now on: what ends after this was not over before anybody could have heard of it.
if tonumber(redis.call('HGET', key, 'since') or 0) > now then redis.call('HSET', key, 'since', now) end

local episodes = redis.call('SMEMBERS', members_key(integration, group))
local alerts, told = {}, {}
for _, episode in ipairs(episodes) do
  alerts[#alerts + 1] = redis.call('HGET', p .. 'alerts', episode) or ''
  told[#told + 1] = redis.call('HGET', p .. 'told:' .. integration, episode) or ''
end
local meta = redis.call('HMGET', key, 'labels', 'repeat', 'since', 'fails', 'interval', 'held', 'maybe', 'interrupted')
return {'group', group, meta[1] or '{}', meta[2] or '0', meta[3] or '', meta[4] or '0', tostring(failures), episodes, alerts, told,
  meta[5] or '0', meta[6] or '[]', meta[7] or '[]', meta[8] or ''}
