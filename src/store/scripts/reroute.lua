-- Moves stored alerts to the groups that the active configuration routes them to. The same call twice changes nothing
-- more. An alert leaves a group it is not routed to any more, unless it was notified there: then its end is owed there.
-- KEYS[1] alerts; args now, integrations [id], alerts [{episode, to [destination]}] (a resolved one has none)
-- Returns JSON {integration: due}
local now = args.now
local configured = {}
for _, integration in ipairs(args.integrations) do configured[integration] = true end

-- A message under way may still be accepted: settle.lua and postpone.lua end its claim.
local CLAIMED_MOST_MS = 600000
local function drop_group(key)
  if redis.call('HEXISTS', key, 'claimed') == 1 then redis.call('PEXPIRE', key, CLAIMED_MOST_MS)
  else redis.call('DEL', key) end
end

-- An alert that was notified takes the open conversation of its old group along: the groups share it from now on, and
-- it is over with the last of them.
local function share_conversation(integration, from, to)
  local key = group_key(integration, from)
  local conversation = redis.call('HGET', key, 'conversation')
  if not conversation then return end
  if not talk_key(integration, conversation) then conversation = '{"groups":1,' .. string.sub(conversation, 2) end
  for _, group in ipairs({from, to}) do
    if group == from or redis.call('HEXISTS', group_key(integration, group), 'conversation') == 0 then
      redis.call('HSET', group_key(integration, group), 'conversation', conversation)
      redis.call('SADD', talk_key(integration, conversation), group)
      redis.call('PEXPIRE', talk_key(integration, conversation), 90 * 86400000)
    end
  end
  redis.call('HDEL', key, 'shown')
  touch(integration, from, now, true)
end

-- `wanted`: destination -> its settings; `wants`: integration -> those that are wanted of it.
local function leave_old_groups(episode, firing, wanted, wants)
  for _, destination in ipairs(redis.call('SMEMBERS', p .. 'in:' .. episode)) do
    if not wanted[destination] then
      local integration, group = split_destination(destination)
      local notified = redis.call('HEXISTS', p .. 'nflog:' .. integration, episode) == 1
      local regrouped = firing and wants[integration] and group ~= 'started'
      local unrouted = firing and not wants[integration] or not configured[integration]
      if regrouped and notified then
        for _, to in ipairs(wants[integration]) do share_conversation(integration, group, to.group) end
      end
      if regrouped or (unrouted and not notified) then
        leave_group(integration, group, episode)
        touch(integration, group, now)
        if not configured[integration] and redis.call('SCARD', members_key(integration, group)) == 0 then
          redis.call('ZREM', p .. 'due:' .. integration, group)
          drop_group(group_key(integration, group))
        end
      end
    end
  end
end

local function send_to(episode, destination, to)
  local integration, group = to.integration, to.group
  local due = p .. 'due:' .. integration
  local before = redis.call('HMGET', group_key(integration, group), 'repeat', 'after')
  local is_other = tonumber(before[1] or '') ~= to.repeatIntervalMs or tonumber(before[2] or '') ~= to.escalateAfterMs
  configure(to)
  local known = redis.call('SISMEMBER', p .. 'in:' .. episode, destination) == 1
  local at = tonumber(redis.call('ZSCORE', due, group) or '')
  if not known or not at then
    join(integration, group, episode)
    make_due(integration, group, now)
  elseif is_other and at > now then
    -- Another repeat_interval or escalation: a reminder, or the escalation, may be due already.
    redis.call('HDEL', group_key(integration, group), 'later')
    redis.call('ZADD', due, now, group)
    wake(integration, now)
  end
end

for _, alert in ipairs(args.alerts) do
  local firing, wanted, wants = is_firing(alert.episode), {}, {}
  if firing then
    for _, to in ipairs(alert.to) do
      wanted[to.integration .. '\n' .. to.group] = to
      wants[to.integration] = wants[to.integration] or {}
      table.insert(wants[to.integration], to)
    end
  end
  leave_old_groups(alert.episode, firing, wanted, wants)
  for destination, to in pairs(wanted) do send_to(alert.episode, destination, to) end
end

for _, integration in ipairs(redis.call('SMEMBERS', p .. 'integrations')) do
  local due, nflog = p .. 'due:' .. integration, p .. 'nflog:' .. integration
  -- A cold start's summary not sent before its integration was removed would be out of date when that returns.
  if not configured[integration] and redis.call('ZREM', due, 'started') == 1 then
    redis.call('DEL', group_key(integration, 'started'))
  end
  if not configured[integration] and redis.call('EXISTS', nflog, due) == 0 then
    redis.call('SREM', p .. 'integrations', integration)
    redis.call('DEL', p .. 'backoff:' .. integration, p .. 'trouble:' .. integration)
  end
end
return cjson.encode(wakes)
