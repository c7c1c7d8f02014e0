-- Shared by the scripts that follow it: groups, when they are due, and which episodes are members of which.
-- Keys, each after the prefix; a destination is "<integration>\n<group>":
--   grp:<integration>:<group>  hash: labels, wait, interval, repeat, storm, after (ms, of an escalation), from the route;
--                              clocks (JSON: what has counted for the escalation of its members); sent (last message);
--                              since (due and not served since then); want (became due during a send); fails;
--                              claimed (token of a claim not ended yet); began (when it was made);
--                              interrupted ('1': a claim died since the group was last served);
--                              suppressed (JSON: [episode, whether its cause covered it]: due and suppressed when it was last served);
--                              owes ('1': a page of its settlement found an end that is owed);
--                              maybe (JSON: those of them that a claim which died may have notified of);
--                              conversation (JSON, while open); shown (a hash of what its root shows, and since when,
--                              where edits keep that the present); touched (when that changed during a claim);
--                              later (when it is due otherwise, where it is due sooner for its root alone);
--                              opens (token of the first claim that could open it); joint (id of the conversation that the
--                              summary of its first storm opens); unsure (since when it is not known what was accepted)
--   talk:<integration>:<conversation>  set of groups in one conversation
--   mem:<integration>:<group>  set of episodes
--   in:<episode>               set of destinations
--   suppressed:<cause>         set of destinations where an episode or a silence suppresses something

local function group_key(integration, group) return p .. 'grp:' .. integration .. ':' .. group end
local function members_key(integration, group) return p .. 'mem:' .. integration .. ':' .. group end

-- A group's id has no line break, the name of an integration might.
local function split_destination(destination) return string.match(destination, '^(.*)\n([^\n]*)$') end

-- What the caller wakes: integration -> earliest due time. JSON of it is the reply of a script that makes groups due.
local wakes = {}
local function wake(integration, at)
  if not wakes[integration] or wakes[integration] > at then wakes[integration] = at end
end

-- Whether the episode fires, as stored.
local function is_firing(episode)
  return string.sub(redis.call('HGET', p .. 'alerts', episode) or '', 1, 1) == 'F'
end

-- Stores the settings of a destination's route with its group.
local configured_groups = {}
local function configure(to)
  if configured_groups[to.integration .. '\n' .. to.group] then return end
  configured_groups[to.integration .. '\n' .. to.group] = true
  redis.call('HSET', group_key(to.integration, to.group), 'labels', to.labels, 'wait', to.groupWaitMs,
    'interval', to.groupIntervalMs, 'repeat', to.repeatIntervalMs, 'storm', to.stormGroups or '',
    'after', to.escalateAfterMs or '')
end

-- A due time is never pushed back. During a send the request is kept in `want` for settle.lua.
local function due_at(integration, group, at)
  local key = group_key(integration, group)
  redis.call('PERSIST', key)
  local set = redis.call('HMGET', key, 'since', 'claimed', 'want', 'later')
  local since, later = tonumber(set[1] or ''), tonumber(set[4] or '')
  if not since or since > at then redis.call('HSET', key, 'since', at) end
  if set[2] then redis.call('HSET', key, 'want', math.min(tonumber(set[3] or at), at)) end
  local due = tonumber(redis.call('ZSCORE', p .. 'due:' .. integration, group) or '')
  if later and at < later then redis.call('HSET', key, 'later', at) end
  if due and due <= at then return wake(integration, due) end
  redis.call('ZADD', p .. 'due:' .. integration, at, group)
  wake(integration, at)
end

-- The group has something to notify of: due after group_wait, or group_interval after the last message.
local made_due = {}
local function make_due(integration, group, now)
  if made_due[integration .. '\n' .. group] then return end
  made_due[integration .. '\n' .. group] = true
  local set = redis.call('HMGET', group_key(integration, group), 'sent', 'wait', 'interval')
  local sent, wait, interval = tonumber(set[1]), tonumber(set[2] or 0), tonumber(set[3] or 0)
  due_at(integration, group, sent and math.max(now, sent + interval) or now + wait)
end

-- A cause of suppression ended: the groups it suppressed something in are due at once; `paced`: no sooner than for
-- another change, since what an alert inhibited often ends one sweep after it.
local function end_suppression(cause, now, paced)
  local key = p .. 'suppressed:' .. cause
  local destinations = redis.call('SMEMBERS', key)
  if #destinations == 0 then return end
  for _, destination in ipairs(destinations) do
    local integration, group = split_destination(destination)
    if redis.call('EXISTS', group_key(integration, group)) == 1 then
      local set = redis.call('HMGET', group_key(integration, group), 'sent', 'interval')
      local sent = paced and tonumber(set[1] or '')
      due_at(integration, group, sent and math.max(now, sent + tonumber(set[2])) or now)
    end
  end
  redis.call('DEL', key)
end

-- The set of groups that share the conversation (JSON); nothing where it is of one group.
local function shared_key(integration, id) return p .. 'talk:' .. integration .. ':' .. id end
local function talk_key(integration, conversation)
  local talk = cjson.decode(conversation)
  return talk.groups and shared_key(integration, talk.id)
end

-- What a root shows may not be the present any more: the group is decided again, with nothing late in it. `is_any`: also
-- where no root shows it.
local function touch(integration, group, at, is_any)
  local key, due = group_key(integration, group), p .. 'due:' .. integration
  local set = redis.call('HMGET', key, 'claimed', 'shown', 'since', 'after', 'sent', 'interval', 'conversation')
  if set[1] then return redis.call('HSET', key, 'touched', at) end
  -- At a pager, what several groups share is acknowledged with the last of them.
  if set[7] and talk_key(integration, set[7]) then set[2] = set[2] or set[7] end
  -- An escalation stops or resumes; one that was sent keeps its `group_interval`.
  local escalates = tonumber(set[4] or '') and not set[2] and not (set[5] and set[5] + set[6] > at)
  local since = tonumber(set[3] or '')
  if not escalates and (not (set[2] or is_any) or since and (since <= at or not set[2])) then return end
  local known = tonumber(redis.call('ZSCORE', due, group) or '')
  if known and known <= at then return wake(integration, known) end
  if set[2] and known then redis.call('HSETNX', key, 'later', known) end
  redis.call('ZADD', due, at, group)
  wake(integration, at)
end

-- The episode was acknowledged, silenced or released: touches the groups whose roots name it; `wakes` has when.
local function touch_episode(episode, now)
  for _, destination in ipairs(redis.call('SMEMBERS', p .. 'in:' .. episode)) do
    local integration, group = split_destination(destination)
    touch(integration, group, now)
  end
end

-- The episode becomes a member of a group.
local joined = {}
local function join(integration, group, episode)
  redis.call('SADD', members_key(integration, group), episode)
  redis.call('SADD', p .. 'in:' .. episode, integration .. '\n' .. group)
  if not joined[integration] then redis.call('SADD', p .. 'integrations', integration) end
  joined[integration] = true
end

-- The episode leaves one group; one that is resolved and in no group any more is deleted.
local function leave_group(integration, group, episode)
  local key = p .. 'in:' .. episode
  redis.call('SREM', members_key(integration, group), episode)
  redis.call('SREM', key, integration .. '\n' .. group)
  if redis.call('SCARD', key) == 0 and not is_firing(episode) then redis.call('HDEL', p .. 'alerts', episode) end
end

-- The groups of the integration that the episode is a member of.
local function groups_of(integration, episode)
  local groups = {}
  for _, destination in ipairs(redis.call('SMEMBERS', p .. 'in:' .. episode)) do
    local found, group = split_destination(destination)
    if found == integration then groups[#groups + 1] = group end
  end
  return groups
end

-- Deletes the claim KEYS[1] if it is still ours, unless more of it is to be settled.
local function release(token)
  if args.keepsClaim then return end
  local claim = redis.call('GET', KEYS[1])
  if claim and string.sub(claim, 1, #token + 1) == token .. '\n' then redis.call('DEL', KEYS[1]) end
end

-- A page of a journal (store/journal.ts) is done once, and in its order.
if args.page then
  local journal = p .. 'settling:' .. args.integration
  if not string.find(redis.call('LINDEX', journal, 0) or '', args.page, 1, true) then return nil end
  redis.call('LPOP', journal)
end
