-- Claims one due group of an integration, or all of them where they are a storm; only one claim per integration exists
-- at a time. The same token again (its reply was lost) gives the same groups again.
-- KEYS[1] claim of the integration: "<token>\n<lease, ms>\n<group>\n<group>…"
-- args    integration, endpoint, token, now, leaseMs, paceMs (0: none), paced (what it is counted by), converses (it has
--         conversations), joint (the id of one that a summary opens under this claim), aheadMs (a storm includes groups
--         due for the first time this soon), gathersEnds (it includes those that wait with something to
--         send, and any two are one), storm {groups, alerts (most of each), leaseMs}, from, most (which of its
--         groups to take; the same token takes the next ones)
-- Returns a list. First JSON: {kind: 'busy' | 'backoff' | 'pace' | 'gather' | 'idle' | 'unsettled', until} or {kind:
--         'group' | 'storm', failures, due (how many groups are), isAll, leaseMs, hasMore, groups: [{group, labels, …}]}.
--         Then for each group the list suppressed, maybe (as stored), episode, ….
local integration, token, now = args.integration, args.token, args.now
local due_key = p .. 'due:' .. integration

local function answer(kind, at) return {cjson.encode({kind = kind, ['until'] = at})} end

if redis.call('EXISTS', p .. 'settling:' .. integration) == 1 then return answer('unsettled') end

local failures, backoff_until = 0, 0
for _, scope in ipairs({args.endpoint, integration}) do
  local key = p .. 'backoff:' .. scope
  local backoff = redis.call('HMGET', key, 'until', 'failures', 'failedAt')
  local ends_at, failed_at = tonumber(backoff[1] or 0), tonumber(backoff[3] or 0)
  -- The clock went back since it failed (rewind.lua): groups keep the rest of the wait.
  if failed_at > now + 5000 then
    ends_at = now
    redis.call('HSET', key, 'until', now, 'failedAt', now)
  end
  backoff_until = math.max(backoff_until, ends_at)
  failures = math.max(failures, tonumber(backoff[2] or 0))
end

-- Due now; or soon and only waiting for group_wait (a refused message waits for its backoff); or, where ends are gathered,
-- late already.
local function is_ripe(at, group)
  if at <= now then return true end
  local sent, interval, since = tonumber(group[2] or ''), tonumber(group[3] or 0), tonumber(group[4] or '')
  if at > now + args.aheadMs and not (since and since <= now) then return false end
  return since and not group[5] and (not sent or sent + interval <= now)
end

-- The groups due together with the first, how many are due, and whether these are all; nothing unless more are due
-- than the `storm` of its route. Each refusal of the first as a message halves the storm: one bad group must not
-- block the others.
local function storm_with(first)
  local set = redis.call('HMGET', group_key(integration, first), 'storm', 'interval')
  local limit = tonumber(set[1] or '')
  if limit and args.gathersEnds then limit = 1 end
  -- With a root of its own that is edited, a group is sent by itself.
  if redis.call('HEXISTS', group_key(integration, first), 'shown') == 1 then return nil end
  local soon = now + math.max(args.aheadMs, args.gathersEnds and tonumber(set[2] or 0) or 0)
  if not limit or redis.call('ZCOUNT', due_key, '-inf', soon) <= limit then return nil end
  local ripe = {}
  local range = redis.call('ZRANGEBYSCORE', due_key, '-inf', soon, 'WITHSCORES', 'LIMIT', 0, args.storm.groups)
  for i = 1, #range, 2 do
    local group =
      redis.call('HMGET', group_key(integration, range[i]), 'storm', 'sent', 'interval', 'since', 'fails', 'shown')
    if not group[6] and is_ripe(tonumber(range[i + 1]), group) then ripe[#ripe + 1] = {id = range[i], storm = tonumber(group[1] or '')} end
  end
  if #ripe <= limit then return nil end
  local together, alerts, all = {}, 0, #range < 2 * args.storm.groups
  local most = #ripe / 2 ^ tonumber(redis.call('HGET', group_key(integration, first), 'fails') or 0)
  for _, group in ipairs(ripe) do
    if #together >= most then all = false break end
    alerts = alerts + redis.call('SCARD', members_key(integration, group.id))
    if alerts > args.storm.alerts and #together > 0 then all = false break end
    if group.storm and (args.gathersEnds or group.storm < #ripe) then together[#together + 1] = group.id end
  end
  if #together > 1 then return together, #ripe, all end
end

-- Due for its root alone.
local function is_for_root(group)
  local set = redis.call('HMGET', group_key(integration, group), 'later', 'since')
  return tonumber(set[1] or 0) > now and tonumber(set[2] or now + 1) > now
end

-- News goes before the roots, of which many may be due at once and each takes its pace.
local function news_before(first)
  if not args.converses or not is_for_root(first) then return first end
  for _, group in ipairs(redis.call('ZRANGEBYSCORE', due_key, '-inf', now, 'LIMIT', 0, args.storm.groups)) do
    if not is_for_root(group) then return group end
  end
  return first
end

local groups, due, all
local lease = args.leaseMs
local claim = redis.call('GET', KEYS[1])
if claim then
  local claimed_by, claimed_ms, claimed = string.match(claim, '^([^\n]*)\n(%d+)\n(.*)$')
  if claimed_by ~= token then
    -- It expires by Redis' clock, which may have gone back.
    if claimed_ms and redis.call('PTTL', KEYS[1]) > tonumber(claimed_ms) then redis.call('PEXPIRE', KEYS[1], claimed_ms) end
    return answer('busy', now + math.max(1, redis.call('PTTL', KEYS[1])))
  end
  groups = {}
  for group in string.gmatch(claimed, '[^\n]+') do groups[#groups + 1] = group end
  due, lease = #groups, tonumber(claimed_ms)
else
  -- After a cold start nothing is sent before its summary is made (cold_start_sum.lua wakes).
  if redis.call('HGET', p .. 'started', 'state') ~= 'summed' then return answer('idle') end
  local first = redis.call('ZRANGE', due_key, 0, 0, 'WITHSCORES')
  -- The summary goes first, unless it is refused as a message.
  local start = redis.call('ZSCORE', due_key, 'started')
  if start and not redis.call('HGET', group_key(integration, 'started'), 'fails') then first = {'started', start} end
  if #first == 0 then return answer('idle') end
  if tonumber(first[2]) > now then return answer('idle', tonumber(first[2])) end
  if backoff_until > now then return answer('backoff', backoff_until) end
  -- The first group keeps its place: put off for a pace token, it would fall behind all the others.
  local free = args.paceMs > 0 and tonumber(redis.call('GET', p .. 'pace:' .. args.paced) or 0) or 0
  if free > now and free <= now + 2 * args.paceMs then return answer('pace', free) end
  first[1] = news_before(first[1])
  groups, due, all = storm_with(first[1])
  -- A storm was notified of a moment ago: gather what follows until every shard was swept again.
  local gather = groups and tonumber(redis.call('GET', p .. 'storm:' .. integration) or 0) or 0
  if gather > now and gather <= now + args.aheadMs then return answer('gather', gather) end
  groups = groups or {first[1]}
  if #groups > 1 then lease = math.max(lease, args.storm.leaseMs) end
  redis.call('SET', KEYS[1], token .. '\n' .. lease .. '\n' .. table.concat(groups, '\n'), 'PX', lease)
end

-- Of an integration with conversations: what ids are made of, and since when the outcome of a message is unknown.
local function converse(key, died)
  if died then redis.call('HSETNX', key, 'unsure', redis.call('HGET', key, 'began') or now) end
  redis.call('HSETNX', key, 'opens', token)
  local is_unsure = redis.call('HEXISTS', key, 'unsure') == 1
  if not is_unsure then redis.call('HSET', key, 'joint', #groups > 1 and args.joint or '') end
end

-- Marks the group as claimed and gives its settings and its members.
local function take(group)
  local key = group_key(integration, group)
  redis.call('ZADD', due_key, now + lease, group)
  redis.call('HDEL', key, 'want', 'touched')
  -- A claim that was never ended may have sent its message before it died.
  local before = redis.call('HGET', key, 'claimed')
  if before and before ~= token then redis.call('HSET', key, 'interrupted', '1') end
  if args.converses then converse(key, before and before ~= token) end
  redis.call('HSET', key, 'claimed', token, 'began', now)
  -- Served ahead of its time: what resolves from now on does so after it was due.
  local later = tonumber(redis.call('HGET', key, 'later') or '')
  local since = tonumber(redis.call('HGET', key, 'since') or '')
  if later and (later <= now or since and since <= now) then later = nil end
  if since and since > now and not later then redis.call('HSET', key, 'since', now) end

  local stored = redis.call('HMGET', key, 'labels', 'repeat', 'since', 'fails', 'interval', 'interrupted', 'storm',
    'suppressed', 'maybe', 'after', 'clocks', 'conversation', 'shown', 'opens', 'joint', 'unsure')
  local joint = stored[15] ~= '' and stored[15] ~= args.joint and stored[15] or nil
  local talk = stored[12] and talk_key(integration, stored[12]) or joint and shared_key(integration, joint)
  local members = redis.call('SMEMBERS', members_key(integration, group))
  table.insert(members, 1, stored[8] or '[]')
  table.insert(members, 2, stored[9] or '[]')
  return {
    group = group,
    labels = stored[1] or '{}',
    repeatIntervalMs = tonumber(stored[2] or 0),
    dueSince = tonumber(stored[3] or ''),
    groupFailures = tonumber(stored[4] or 0),
    groupIntervalMs = tonumber(stored[5] or 0),
    isInterrupted = stored[6] == '1',
    stormGroups = tonumber(stored[7] or ''),
    escalateAfterMs = tonumber(stored[10] or ''),
    clocks = stored[11] or nil,
    conversation = stored[12] or nil,
    shown = stored[13] or nil,
    opens = stored[14] or nil,
    joint = joint,
    unsureSince = tonumber(stored[16] or ''),
    sharing = talk and redis.call('SCARD', talk) or nil,
    newsAt = later,
  }, members
end

local reply = {''}
local rows = {}
for i = args.from + 1, math.min(#groups, args.from + args.most) do
  rows[i - args.from], reply[i - args.from + 1] = take(groups[i])
end
reply[1] = cjson.encode({
  kind = #groups == 1 and 'group' or 'storm',
  failures = failures,
  due = due or 1,
  isAll = all == true,
  leaseMs = lease,
  hasMore = #groups > args.from + args.most,
  groups = rows,
})
return reply
