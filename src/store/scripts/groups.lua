-- Shared by the scripts below it: groups, what is due, and who is a member where.
-- Group hash  grp:<integration>:<group>  labels, wait, interval, repeat, sent, since (due and not served since), want
--             (became due while a send was under way), fails, claimed (token of the last claim not ended yet), began
--             (when that was)
-- Members     mem:<integration>:<group>  set of episode ids;  in:<episode>  set of "<integration>\n<group>"
local p = ARGV[1]

local function group_key(integration, group) return p .. 'grp:' .. integration .. ':' .. group end
local function members_key(integration, group) return p .. 'mem:' .. integration .. ':' .. group end

-- Something in the group must be told: due after group_wait, or group_interval after the last message; a due
-- time is never pushed back. While a send is under way the wish is kept in `want` for its commit.
local function make_due(integration, group, now)
  local key = group_key(integration, group)
  local set = redis.call('HMGET', key, 'sent', 'wait', 'interval', 'claimed')
  local sent, wait, interval = tonumber(set[1]), tonumber(set[2] or 0), tonumber(set[3] or 0)
  local at = sent and math.max(now, sent + interval) or now + wait
  redis.call('PERSIST', key)
  redis.call('HSETNX', key, 'since', at)
  if set[4] then
    local want = tonumber(redis.call('HGET', key, 'want') or at)
    redis.call('HSET', key, 'want', math.min(want, at))
  end
  local due = redis.call('ZSCORE', p .. 'due:' .. integration, group)
  if not due or tonumber(due) > at then
    redis.call('ZADD', p .. 'due:' .. integration, at, group)
    return at
  end
  return tonumber(due)
end

-- The episode leaves one group; once it is in none and over, it is forgotten.
local function leave_group(integration, group, episode)
  local key = p .. 'in:' .. episode
  redis.call('SREM', members_key(integration, group), episode)
  redis.call('SREM', key, integration .. '\n' .. group)
  if redis.call('SCARD', key) == 0 then
    local alert = redis.call('HGET', p .. 'alerts', episode)
    if alert and string.sub(alert, 1, 1) == 'R' then redis.call('HDEL', p .. 'alerts', episode) end
  end
end

-- The integration and the group of a place in `in:<episode>`; a group's id has no line break, a name might.
local function split_place(place) return string.match(place, '^(.*)\n([^\n]*)$') end

-- The episode leaves every group of the integration.
local function leave(integration, episode)
  for _, place in ipairs(redis.call('SMEMBERS', p .. 'in:' .. episode)) do
    local where, group = split_place(place)
    if where == integration then leave_group(integration, group, episode) end
  end
end
