-- Takes one due group of an integration under a lease; nobody else sends there meanwhile.
-- KEYS[1] claim of the integration
-- ARGV    prefix, integration, endpoint, token, now, lease (ms)
-- Returns {'busy', until} | {'backoff', until} | {'idle', next due or ''} |
--         {'group', group, labels, repeat, since, fails, failures, episodes, alerts, told}
local integration, endpoint, token = ARGV[2], ARGV[3], ARGV[4]
local now, lease = tonumber(ARGV[5]), tonumber(ARGV[6])

local holder = redis.call('GET', KEYS[1])
if holder and holder ~= token then return {'busy', tostring(now + math.max(1, redis.call('PTTL', KEYS[1])))} end

local failures, wait = 0, 0
for _, scope in ipairs({endpoint, integration}) do
  local backoff = redis.call('HMGET', p .. 'backoff:' .. scope, 'until', 'failures')
  wait = math.max(wait, tonumber(backoff[1] or 0))
  failures = math.max(failures, tonumber(backoff[2] or 0))
end
local due = redis.call('ZRANGE', p .. 'due:' .. integration, 0, 0, 'WITHSCORES')
if #due == 0 then return {'idle', ''} end
if tonumber(due[2]) > now then return {'idle', due[2]} end
if wait > now then return {'backoff', tostring(wait)} end

local group = due[1]
local key = group_key(integration, group)
redis.call('SET', KEYS[1], token, 'PX', lease)
redis.call('ZADD', p .. 'due:' .. integration, now + lease, group)
redis.call('HDEL', key, 'want')
redis.call('HSET', key, 'claimed', token)

local episodes = redis.call('SMEMBERS', members_key(integration, group))
local alerts, told = {}, {}
for _, episode in ipairs(episodes) do
  alerts[#alerts + 1] = redis.call('HGET', p .. 'alerts', episode) or ''
  told[#told + 1] = redis.call('HGET', p .. 'told:' .. integration, episode) or ''
end
local meta = redis.call('HMGET', key, 'labels', 'repeat', 'since', 'fails')
return {'group', group, meta[1] or '{}', meta[2] or '0', meta[3] or '', meta[4] or '0', tostring(failures), episodes, alerts, told}
