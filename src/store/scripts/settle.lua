-- Ends a claim after the decision: what was told is written down, what is over leaves, the group is armed again.
-- The same call twice changes nothing more, whatever happened between; after the lease was taken over by somebody
-- else it still writes down what was told and leaves the timers to them.
-- KEYS[1] claim of the integration
-- ARGV    prefix, integration, group, token, now, said ('1' a message was accepted), told JSON [[episode, record]],
--         over JSON [episode] (leave the integration), untold JSON [episode] (leave this group), next look ('' none),
--         endpoint
-- Returns the group's next due time, or ''
local integration, group, token, now, said = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6] == '1'
local key, due = group_key(integration, group), p .. 'due:' .. integration
local members = members_key(integration, group)

for _, told in ipairs(cjson.decode(ARGV[7])) do
  if redis.call('SISMEMBER', members, told[1]) == 1 then
    redis.call('HSET', p .. 'told:' .. integration, told[1], told[2])
  end
end
for _, episode in ipairs(cjson.decode(ARGV[8])) do
  redis.call('HDEL', p .. 'told:' .. integration, episode)
  leave(integration, episode)
end
for _, episode in ipairs(cjson.decode(ARGV[9])) do leave_group(integration, group, episode) end

if redis.call('HGET', key, 'claimed') ~= token then return '' end
local interval = tonumber(redis.call('HGET', key, 'interval') or 0)
local want = tonumber(redis.call('HGET', key, 'want') or '')
redis.call('HDEL', key, 'since', 'fails', 'want', 'claimed', 'began')
redis.call('HDEL', p .. 'trouble:' .. integration, group)
if redis.call('GET', KEYS[1]) == token .. '\n' .. group then redis.call('DEL', KEYS[1]) end
if said then
  redis.call('HSET', key, 'sent', now)
  for _, scope in ipairs({ARGV[11], integration}) do
    local backoff = p .. 'backoff:' .. scope
    -- One that lasts longer was asked for by another message since.
    if tonumber(redis.call('HGET', backoff, 'until') or 0) <= now then redis.call('DEL', backoff) end
  end
end

local at
if want then
  at = said and math.max(want, now + interval) or want
  redis.call('HSET', key, 'since', at)
elseif redis.call('SCARD', members) > 0 then
  at = ARGV[10] ~= '' and tonumber(ARGV[10]) or now + math.max(60000, interval)
end
if at then redis.call('ZADD', due, at, group) else redis.call('ZREM', due, group) end
if redis.call('SCARD', members) == 0 then redis.call('PEXPIRE', key, math.max(60000, interval * 2)) end
return at and tostring(at) or ''
