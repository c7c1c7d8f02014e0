-- Ends a claim after the decision: what was told is written down, what is over leaves, the group is armed again.
-- Idempotent: the same call twice changes nothing more.
-- KEYS[1] claim of the integration
-- ARGV    prefix, integration, group, token, now, said ('1' a message was accepted), told JSON [[episode, record]],
--         settled JSON [episode], next look ('' none), endpoint
-- Returns the group's next due time, or ''
local integration, group, token, now, said = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6] == '1'
local key, due = group_key(integration, group), p .. 'due:' .. integration

for _, told in ipairs(cjson.decode(ARGV[7])) do
  redis.call('HSET', p .. 'told:' .. integration, told[1], told[2])
end
for _, episode in ipairs(cjson.decode(ARGV[8])) do
  redis.call('HDEL', p .. 'told:' .. integration, episode)
  leave(integration, episode)
end
redis.call('HDEL', key, 'since', 'fails')
redis.call('HDEL', p .. 'trouble:' .. integration, group)
if said then
  redis.call('HSET', key, 'sent', now)
  redis.call('DEL', p .. 'backoff:' .. ARGV[10], p .. 'backoff:' .. integration)
end

local mine = redis.call('HGET', key, 'claimed')
if mine and mine ~= token then return '' end
local want = redis.call('HGET', key, 'want')
local interval = tonumber(redis.call('HGET', key, 'interval') or 0)
local at = ''
if want then
  at = said and math.max(tonumber(want), now + interval) or tonumber(want)
  redis.call('HSET', key, 'since', at)
elseif ARGV[9] ~= '' and redis.call('SCARD', members_key(integration, group)) > 0 then
  at = tonumber(ARGV[9])
end
if at == '' then redis.call('ZREM', due, group) else redis.call('ZADD', due, at, group) end
redis.call('HDEL', key, 'want', 'claimed')
if redis.call('SCARD', members_key(integration, group)) == 0 then
  redis.call('PEXPIRE', key, math.max(60000, interval * 2))
end
if redis.call('GET', KEYS[1]) == token then redis.call('DEL', KEYS[1]) end
return tostring(at)
