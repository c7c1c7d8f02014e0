-- Ends a claim after the decision: what was told is written down, what is over leaves, the group is armed again.
-- The same call twice changes nothing more, whatever happened between; after the lease was taken over by somebody
-- else it still writes down what was told and leaves the timers to them.
-- KEYS[1] claim of the integration
-- ARGV    prefix, integration, group, token, now, said ('1' a message was accepted), told JSON [[episode, record]],
--         over JSON [episode] (leave the integration), untold JSON [episode] (leave this group), next look ('' none),
--         endpoint, kept JSON {by: [[reason, episode or silence]], unnotified: [episode], maybeNotified: [episode],
--         lateFrom}: what is held back, lines of the incident log
-- Returns the group's next due time, or ''
local integration, group, token, now, said = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6] == '1'
local key, due = group_key(integration, group), p .. 'due:' .. integration
local members = members_key(integration, group)

write_log(ARGV[13])
local is_ours, ended = redis.call('HGET', key, 'claimed') == token, false
for _, told in ipairs(cjson.decode(ARGV[7])) do
  local is_here = is_in(integration, told[1])
  if not is_here and is_ours then
    -- Rerouted away while the message was under way: its end is owed here all the same.
    join(integration, group, told[1])
    redis.call('PERSIST', key)
    if string.sub(redis.call('HGET', p .. 'alerts', told[1]) or '', 1, 1) ~= 'F' then ended = true end
  end
  if is_here or is_ours then redis.call('HSET', p .. 'told:' .. integration, told[1], told[2]) end
end
for _, episode in ipairs(cjson.decode(ARGV[8])) do
  redis.call('HDEL', p .. 'told:' .. integration, episode)
  leave(integration, episode)
end
for _, episode in ipairs(cjson.decode(ARGV[9])) do leave_group(integration, group, episode) end

if not is_ours then return '' end
local interval = tonumber(redis.call('HGET', key, 'interval') or 0)
local want = tonumber(redis.call('HGET', key, 'want') or '')
redis.call('HDEL', key, 'since', 'fails', 'want', 'claimed', 'began', 'held', 'maybe', 'interrupted')
redis.call('HDEL', p .. 'trouble:' .. integration, group)
release(token)
if said then
  redis.call('HSET', key, 'sent', now)
  for _, scope in ipairs({ARGV[11], integration}) do
    local backoff = p .. 'backoff:' .. scope
    -- One that lasts longer was asked for by another message since.
    if tonumber(redis.call('HGET', backoff, 'until') or 0) <= now then redis.call('DEL', backoff) end
  end
end

-- Whoever holds something back here says so when it is over; what was over before this was written is asked for now.
local suppressed, place, freed = cjson.decode(ARGV[12]), integration .. '\n' .. group, ended
for _, by in ipairs(suppressed.by) do
  redis.call('SADD', p .. 'held:' .. by[2], place)
  redis.call('PEXPIRE', p .. 'held:' .. by[2], math.max(3600000, interval * 3))
  if by[1] == 'inhibited' and string.sub(redis.call('HGET', p .. 'alerts', by[2]) or '', 1, 1) ~= 'F' then freed = true end
  if by[1] == 'silenced' and redis.call('EXISTS', p .. 'ended:' .. by[2]) == 1 then freed = true end
end
if #suppressed.unnotified > 0 then redis.call('HSET', key, 'held', cjson.encode(suppressed.unnotified)) end
if #suppressed.maybeNotified > 0 then redis.call('HSET', key, 'maybe', cjson.encode(suppressed.maybeNotified)) end

local at
if freed then
  at = now
  redis.call('HSET', key, 'since', at)
elseif want then
  at = said and math.max(want, now + interval) or want
  redis.call('HSET', key, 'since', at)
elseif redis.call('SCARD', members) > 0 then
  at = ARGV[10] ~= '' and tonumber(ARGV[10]) or now + math.max(60000, interval)
  -- What outlasts its hold is late from then on.
  if suppressed.lateFrom then redis.call('HSET', key, 'since', suppressed.lateFrom) end
end
if at then redis.call('ZADD', due, at, group) else redis.call('ZREM', due, group) end
if redis.call('SCARD', members) == 0 then redis.call('PEXPIRE', key, math.max(60000, interval * 2)) end
return at and tostring(at) or ''
