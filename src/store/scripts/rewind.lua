-- Puts right some groups and entries of an integration after the clock went back: an instant that is past but lies
-- ahead, or lies further ahead than its own timer, moves back with the clock. The same twice changes nothing more.
-- KEYS[1] due times of the integration
-- args    integration, before and now (by the clock), groups [id], episodes [id] (of the notification log)
local integration, before, now = args.integration, args.before, args.now
local nflog = p .. 'nflog:' .. integration
local CLAIMED_MOST_MS, BACKOFF_MOST_MS = 120000, 300000

local function past(at)
  if at and at > now then return math.min(now, at - (before - now)) end
  return at
end

-- An end before the group was due is never notified: its order to `since` would be lost.
local function drop_ends(group, since)
  for _, episode in ipairs(redis.call('SMEMBERS', members_key(integration, group))) do
    local text = redis.call('HGET', p .. 'alerts', episode) or ''
    if string.sub(text, 1, 1) == 'R' and redis.call('HEXISTS', nflog, episode) == 0 then
      local alert = cjson.decode(string.sub(text, 2))
      if math.max(alert.endsAt, alert.updatedAt) < since then leave_group(integration, group, episode) end
    end
  end
end

local function rewind(group)
  local key = group_key(integration, group)
  local due = tonumber(redis.call('ZSCORE', KEYS[1], group) or '')
  if not due then return end
  local set = {}
  for _, name in ipairs({'sent', 'since', 'want', 'began', 'unsure', 'later', 'wait', 'interval', 'repeat'}) do
    set[name] = tonumber(redis.call('HGET', key, name) or '')
  end
  local is_claimed = redis.call('HEXISTS', key, 'claimed') == 1
  local interval, since = set.interval or 0, set.since
  local sent, most = past(set.sent), math.max(60000, interval, set['repeat'] or 0)
  if is_claimed then most = CLAIMED_MOST_MS
  elseif since and since <= before then most = BACKOFF_MOST_MS
  elseif since then most = sent and math.max(0, sent + interval - now) or set.wait or 0 end
  local new_due = due
  if due > now + most then new_due = math.max(now, due - (before - now)) end
  redis.call('ZADD', KEYS[1], new_due, group)
  local moved = {sent = sent, want = past(set.want), began = past(set.began), unsure = past(set.unsure),
    later = past(set.later)}
  if since and since <= before then moved.since = past(since)
  elseif since and since <= due then moved.since = math.min(since, new_due) end
  for name, at in pairs(moved) do redis.call('HSET', key, name, at) end
  local is_unsure = is_claimed or redis.call('HEXISTS', key, 'maybe') + redis.call('HEXISTS', key, 'interrupted') > 0
  if moved.since and moved.since < since and not is_unsure then drop_ends(group, since) end
end

for _, group in ipairs(args.groups) do rewind(group) end
for _, episode in ipairs(args.episodes) do
  local entry = redis.call('HGET', nflog, episode)
  if entry then
    local moved = string.gsub(entry, '("%a-[nN]otifiedAt":)(%d+)', function(name, at)
      return name .. string.format('%d', past(tonumber(at)))
    end)
    redis.call('HSET', nflog, episode, moved)
  end
end
return 1
