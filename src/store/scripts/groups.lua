-- Shared by the scripts below it: groups, what is due, and who is a member where.
-- Group hash  grp:<integration>:<group>  labels, wait, interval, repeat, sent, since (due and not served since), want
--             (became due while a send was under way), fails, claimed (token of the last claim not ended yet), began
--             (when that was), held (JSON of the episodes that were due and held when it was last looked at), maybe
--             (JSON of those of them that a claim which died may have told), interrupted ('1' a claim died since it
--             was last served), storm (told alone unless more groups than this are due)
-- Held        held:<what>  set of "<integration>\n<group>" that an episode or a silence holds something back in
-- Members     mem:<integration>:<group>  set of episode ids;  in:<episode>  set of "<integration>\n<group>"
local p = ARGV[1]

local function group_key(integration, group) return p .. 'grp:' .. integration .. ':' .. group end
local function members_key(integration, group) return p .. 'mem:' .. integration .. ':' .. group end

-- A due time is never pushed back. While a send is under way the wish is kept in `want` for its commit.
local function due_at(integration, group, at)
  local key = group_key(integration, group)
  redis.call('PERSIST', key)
  local since = tonumber(redis.call('HGET', key, 'since') or '')
  if not since or since > at then redis.call('HSET', key, 'since', at) end
  if redis.call('HEXISTS', key, 'claimed') == 1 then
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

-- Something in the group must be told: due after group_wait, or group_interval after the last message.
local function make_due(integration, group, now)
  local set = redis.call('HMGET', group_key(integration, group), 'sent', 'wait', 'interval')
  local sent, wait, interval = tonumber(set[1]), tonumber(set[2] or 0), tonumber(set[3] or 0)
  return due_at(integration, group, sent and math.max(now, sent + interval) or now + wait)
end

-- What held something back is over: where it did, it is looked at again at once. `note(integration, at)` for each.
local function free(what, now, note)
  for _, place in ipairs(redis.call('SMEMBERS', p .. 'held:' .. what)) do
    local integration, group = string.match(place, '^([^\n]*)\n(.*)$')
    if redis.call('EXISTS', group_key(integration, group)) == 1 then
      note(integration, due_at(integration, group, now))
    end
  end
  redis.call('DEL', p .. 'held:' .. what)
end

-- The episode is to be told in a group of the integration.
local function join(integration, group, episode)
  redis.call('SADD', members_key(integration, group), episode)
  redis.call('SADD', p .. 'in:' .. episode, integration .. '\n' .. group)
  redis.call('SADD', p .. 'integrations', integration)
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

-- The claim KEYS[1] is over, if it is still ours.
local function release(token)
  local holder = redis.call('GET', KEYS[1])
  if holder and string.sub(holder, 1, #token + 1) == token .. '\n' then redis.call('DEL', KEYS[1]) end
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

-- Whether the episode is in any group of the integration.
local function is_in(integration, episode)
  for _, place in ipairs(redis.call('SMEMBERS', p .. 'in:' .. episode)) do
    if split_place(place) == integration then return true end
  end
  return false
end
