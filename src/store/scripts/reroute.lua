-- Gives remembered alerts the places the configuration in force sends them to. The same call twice changes nothing
-- more. A place that is not theirs any more is left, unless the problem was told there: then its end is owed there.
-- KEYS[1] alerts
-- ARGV    prefix, now, integrations JSON [id], alerts JSON [[episode, [[integration, group, labels, wait, interval,
--         repeat, storm]]]]; an episode that is over has no places to go to
-- Returns {integration, due, integration, due, ...}
local now = tonumber(ARGV[2])
local here = {}
for _, integration in ipairs(cjson.decode(ARGV[3])) do here[integration] = true end

local wake = {}
local function note(integration, at)
  if not wake[integration] or wake[integration] > at then wake[integration] = at end
end

-- A message under way may still be accepted: settle.lua and postpone.lua end its claim.
local CLAIMED_MOST_MS = 600000
local function let_go(key)
  if redis.call('HEXISTS', key, 'claimed') == 1 then redis.call('PEXPIRE', key, CLAIMED_MOST_MS)
  else redis.call('DEL', key) end
end

local function leave_what_is_gone(episode, firing, wanted, wants)
  for _, place in ipairs(redis.call('SMEMBERS', p .. 'in:' .. episode)) do
    if not wanted[place] then
      local integration, group = split_place(place)
      local told = redis.call('HEXISTS', p .. 'told:' .. integration, episode) == 1
      local regrouped = firing and wants[integration] and group ~= 'started'
      if regrouped or (not told and (firing and not wants[integration] or not here[integration])) then
        leave_group(integration, group, episode)
        if not here[integration] and redis.call('SCARD', members_key(integration, group)) == 0 then
          redis.call('ZREM', p .. 'due:' .. integration, group)
          let_go(group_key(integration, group))
        end
      end
    end
  end
end

local function send_to(episode, place, to)
  local integration, group = to[1], to[2]
  local key, due = group_key(integration, group), p .. 'due:' .. integration
  local before = tonumber(redis.call('HGET', key, 'repeat') or '')
  redis.call('HSET', key, 'labels', to[3], 'wait', to[4], 'interval', to[5], 'repeat', to[6], 'storm', to[7] or '')
  local known = redis.call('SISMEMBER', p .. 'in:' .. episode, place) == 1
  local at = tonumber(redis.call('ZSCORE', due, group) or '')
  if not known or not at then
    join(integration, group, episode)
    note(integration, make_due(integration, group, now))
  elseif before ~= tonumber(to[6]) and at > now then
    -- Another repeat_interval: a reminder may be due already. Looking costs nothing.
    redis.call('ZADD', due, now, group)
    note(integration, now)
  end
end

for _, alert in ipairs(cjson.decode(ARGV[4])) do
  local episode, wanted, wants = alert[1], {}, {}
  local text = redis.call('HGET', KEYS[1], episode)
  local firing = text and string.sub(text, 1, 1) == 'F'
  if firing then
    for _, to in ipairs(alert[2]) do
      wanted[to[1] .. '\n' .. to[2]] = to
      wants[to[1]] = true
    end
  end
  leave_what_is_gone(episode, firing, wanted, wants)
  for place, to in pairs(wanted) do send_to(episode, place, to) end
end

for _, integration in ipairs(redis.call('SMEMBERS', p .. 'integrations')) do
  -- A summary of a start that was not told before its integration went would be an old story if that came back.
  if not here[integration] and redis.call('ZREM', p .. 'due:' .. integration, 'started') == 1 then
    redis.call('DEL', group_key(integration, 'started'))
  end
  if not here[integration] and redis.call('EXISTS', p .. 'told:' .. integration, p .. 'due:' .. integration) == 0 then
    redis.call('SREM', p .. 'integrations', integration)
    redis.call('DEL', p .. 'backoff:' .. integration, p .. 'trouble:' .. integration)
  end
end

local result = {}
for integration, at in pairs(wake) do
  result[#result + 1] = integration
  result[#result + 1] = tostring(at)
end
return result
