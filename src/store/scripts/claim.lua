-- Takes one due group of an integration under a lease, or all of them where they are a storm; nobody else sends there
-- meanwhile. Asked again with the same token (its reply was lost), it gives the same again.
-- KEYS[1] claim of the integration: "<token>\n<group>\n<group>…"
-- ARGV    prefix, integration, endpoint, token, now, lease (ms), pace of the endpoint (ms, 0 none), how soon others
--         are due for the first time that join a storm (ms), most groups and most alerts of a storm, lease of a storm
-- Returns {'busy' | 'backoff' | 'pace' | 'gather', until} | {'idle', next due or ''} | row |
--         {'storm', how many are due, '1' if all of them are here, lease, row, row, ...}
--         row: {'group', group, labels, repeat, since, fails, failures, episodes, alerts, told, interval, held,
--         maybe, interrupted, storm}
local integration, endpoint, token = ARGV[2], ARGV[3], ARGV[4]
local now, lease, step, ahead = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local most_groups, most_alerts, storm_lease = tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11])
local due_key = p .. 'due:' .. integration

local failures, wait = 0, 0
for _, scope in ipairs({endpoint, integration}) do
  local backoff = redis.call('HMGET', p .. 'backoff:' .. scope, 'until', 'failures')
  wait = math.max(wait, tonumber(backoff[1] or 0))
  failures = math.max(failures, tonumber(backoff[2] or 0))
end

-- Due now; or soon, and only waiting for company (a refused message rests its time).
local function is_ripe(at, set)
  if at <= now then return true end
  local sent, interval = tonumber(set[2] or ''), tonumber(set[3] or 0)
  return set[4] and not set[5] and (not sent or sent + interval <= now)
end

-- Those due together with the first, and how many are due: where these are more than its route's `storm`. Half as many
-- for each time that the first was refused as a message: what is refused for one of them is told of the others.
local function storm_with(first)
  local limit = tonumber(redis.call('HGET', group_key(integration, first), 'storm') or '')
  if not limit or redis.call('ZCOUNT', due_key, '-inf', now + ahead) <= limit then return nil end
  local ripe = {}
  local range = redis.call('ZRANGEBYSCORE', due_key, '-inf', now + ahead, 'WITHSCORES', 'LIMIT', 0, most_groups)
  for i = 1, #range, 2 do
    local set = redis.call('HMGET', group_key(integration, range[i]), 'storm', 'sent', 'interval', 'since', 'fails')
    if is_ripe(tonumber(range[i + 1]), set) then ripe[#ripe + 1] = {range[i], tonumber(set[1] or '')} end
  end
  if #ripe <= limit then return nil end
  local together, alerts, all = {}, 0, #range < 2 * most_groups
  local most = #ripe / 2 ^ tonumber(redis.call('HGET', group_key(integration, first), 'fails') or 0)
  for _, one in ipairs(ripe) do
    if #together >= most then all = false break end
    alerts = alerts + redis.call('SCARD', members_key(integration, one[1]))
    if alerts > most_alerts and #together > 0 then all = false break end
    if one[2] and one[2] < #ripe then together[#together + 1] = one[1] end
  end
  if #together > 1 then return together, #ripe, all end
end

local groups, due, all
local holder = redis.call('GET', KEYS[1])
if holder then
  local held_by, held = string.match(holder, '^([^\n]*)\n(.*)$')
  if held_by ~= token then return {'busy', tostring(now + math.max(1, redis.call('PTTL', KEYS[1])))} end
  groups = {}
  for group in string.gmatch(held, '[^\n]+') do groups[#groups + 1] = group end
  due = #groups
else
  -- Where nothing is remembered nothing is said before the summary of this start is made (cold_start_sum.lua wakes).
  if redis.call('HGET', p .. 'started', 'state') ~= 'summed' then return {'idle', ''} end
  local first = redis.call('ZRANGE', due_key, 0, 0, 'WITHSCORES')
  -- It goes before anything else, unless it is refused as a message.
  local start = redis.call('ZSCORE', due_key, 'started')
  if start and not redis.call('HGET', group_key(integration, 'started'), 'fails') then first = {'started', start} end
  if #first == 0 then return {'idle', ''} end
  if tonumber(first[2]) > now then return {'idle', first[2]} end
  if wait > now then return {'backoff', tostring(wait)} end
  -- Who is first stays first: a group that had to wait for its pace token would fall behind all the others.
  local free = step > 0 and tonumber(redis.call('GET', p .. 'pace:' .. endpoint) or 0) or 0
  if free > now and free <= now + 2 * step then return {'pace', tostring(free)} end
  groups, due, all = storm_with(first[1])
  -- A storm was told a moment ago: what has come since is told together, once every shard had its turn.
  local calm = groups and tonumber(redis.call('GET', p .. 'storm:' .. integration) or 0) or 0
  if calm > now and calm <= now + ahead then return {'gather', tostring(calm)} end
  groups = groups or {first[1]}
  if #groups > 1 then lease = math.max(lease, storm_lease) end
  redis.call('SET', KEYS[1], token .. '\n' .. table.concat(groups, '\n'), 'PX', lease)
end

local function take(group)
  local key = group_key(integration, group)
  redis.call('ZADD', due_key, now + lease, group)
  redis.call('HDEL', key, 'want')
  -- A claim that neither settled nor gave back may have got its message out before it died.
  local before = redis.call('HGET', key, 'claimed')
  if before and before ~= token then redis.call('HSET', key, 'interrupted', '1') end
  redis.call('HSET', key, 'claimed', token, 'began', now)
  -- Served from now on: what ends after this was not over before anybody could have heard of it.
  if tonumber(redis.call('HGET', key, 'since') or 0) > now then redis.call('HSET', key, 'since', now) end

  local episodes = redis.call('SMEMBERS', members_key(integration, group))
  local alerts, told = {}, {}
  for _, episode in ipairs(episodes) do
    alerts[#alerts + 1] = redis.call('HGET', p .. 'alerts', episode) or ''
    told[#told + 1] = redis.call('HGET', p .. 'told:' .. integration, episode) or ''
  end
  local meta = redis.call('HMGET', key, 'labels', 'repeat', 'since', 'fails', 'interval', 'held', 'maybe', 'interrupted',
    'storm')
  return {'group', group, meta[1] or '{}', meta[2] or '0', meta[3] or '', meta[4] or '0', tostring(failures), episodes, alerts,
    told, meta[5] or '0', meta[6] or '[]', meta[7] or '[]', meta[8] or '', meta[9] or ''}
end

if #groups == 1 then return take(groups[1]) end
local reply = {'storm', tostring(due), all and '1' or '', tostring(lease)}
for _, group in ipairs(groups) do reply[#reply + 1] = take(group) end
return reply
