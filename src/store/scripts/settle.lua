-- Ends a claim after the decision: stores what was notified, removes what is over, sets the next due time.
-- The same call twice changes nothing more, whatever happened between. After another claim took over, it still stores
-- what was notified and leaves the timers to that one.
-- KEYS[1] claim of the integration
-- args    integration, endpoint, group, token, now, sent (a message was accepted), notified [{episode, entry (JSON)}],
--         clocks (JSON, of an escalation),
--         over [episode] (leave the integration), unnotified [episode] (leave this group), nextAt,
--         suppressed {by [{reason, by, goodAt (of stale)}], unnotified (JSON), maybeNotified (JSON), lateFrom}, log (log.lua),
--         conversation (JSON; '' once it is closed; nil: as it is), shown, newsAt (as it was claimed), rootAt (when its root may be out of date), hasMore (another page of the same group follows: timers and claim are left to the last one)
-- Returns the group's next due time, or nothing
local integration, group, now = args.integration, args.group, args.now
local key, due = group_key(integration, group), p .. 'due:' .. integration
local nflog = p .. 'nflog:' .. integration

write_log(args.log)
local is_ours, is_due = redis.call('HGET', key, 'claimed') == args.token, false
for _, notified in ipairs(args.notified) do
  local is_member = #groups_of(integration, notified.episode) > 0
  if not is_member and is_ours then
    -- Rerouted while the message was under way: its end is owed here all the same.
    join(integration, group, notified.episode)
    redis.call('PERSIST', key)
    if not is_firing(notified.episode) then is_due = true end
  end
  if is_member or is_ours then redis.call('HSET', nflog, notified.episode, notified.entry) end
end
for _, episode in ipairs(args.over) do
  redis.call('HDEL', nflog, episode)
  for _, other in ipairs(groups_of(integration, episode)) do
    leave_group(integration, other, episode)
    if other ~= group then touch(integration, other, now) end
  end
end
for _, episode in ipairs(args.unnotified) do leave_group(integration, group, episode) end

if is_ours and args.hasMore and is_due then redis.call('HSET', key, 'owes', '1') end
if not is_ours or args.hasMore then return nil end
is_due = redis.call('HDEL', key, 'owes') == 1 or is_due
local interval = tonumber(redis.call('HGET', key, 'interval') or 0)
local want = tonumber(redis.call('HGET', key, 'want') or '')
local touched = redis.call('HEXISTS', key, 'touched') == 1
redis.call('HDEL', key, 'want', 'claimed', 'began', 'touched', 'later')
-- Only the root was brought up to date.
if not args.newsAt then
  redis.call('HDEL', key, 'since', 'fails', 'suppressed', 'maybe', 'interrupted', 'joint', 'unsure')
  -- A message that may have been accepted has opened a conversation of this id.
  local suppressed = args.suppressed
  if not suppressed or suppressed.maybeNotified == '[]' then redis.call('HDEL', key, 'opens') end
end
redis.call('HDEL', p .. 'trouble:' .. integration, group)
release(args.token)
if args.sent then
  redis.call('HSET', key, 'sent', now)
  for _, scope in ipairs({args.endpoint, integration}) do
    local backoff = p .. 'backoff:' .. scope
    -- One that lasts longer was set by another message since.
    if tonumber(redis.call('HGET', backoff, 'until') or 0) <= now then redis.call('DEL', backoff) end
  end
end

-- A cause of suppression makes this group due when it ends (end_suppression); one that ended before this was written
-- makes it due now.
local suppressed = args.suppressed
for _, cause in ipairs(suppressed and suppressed.by or {}) do
  redis.call('SADD', p .. 'suppressed:' .. cause.by, integration .. '\n' .. group)
  redis.call('PEXPIRE', p .. 'suppressed:' .. cause.by, math.max(3600000, interval * 3))
  if cause.reason == 'inhibited' and not is_firing(cause.by) then is_due = true end
  if cause.reason == 'stale' then
    local attempt = redis.call('HGET', p .. 'attempts', cause.by)
    if attempt and cjson.decode(attempt).goodAt > cause.goodAt then is_due = true end
  end
  if cause.reason == 'silenced' and redis.call('EXISTS', p .. 'ended:' .. cause.by) == 1 then is_due = true end
end
if args.clocks then redis.call('HSET', key, 'clocks', args.clocks) else redis.call('HDEL', key, 'clocks') end
if suppressed and suppressed.unnotified ~= '[]' then redis.call('HSET', key, 'suppressed', suppressed.unnotified) end
if suppressed and suppressed.maybeNotified ~= '[]' then redis.call('HSET', key, 'maybe', suppressed.maybeNotified) end

if args.conversation then
  local TALK_KEPT_MS = 90 * 86400000
  local before, after = redis.call('HGET', key, 'conversation'), args.conversation
  local left, talk = before and talk_key(integration, before), after ~= '' and talk_key(integration, after)
  if left and left ~= talk then redis.call('SREM', left, group) end
  if talk then
    redis.call('SADD', talk, group)
    redis.call('PEXPIRE', talk, TALK_KEPT_MS)
  end
  redis.call('HDEL', key, 'conversation', 'shown')
  if after ~= '' then redis.call('HSET', key, 'conversation', after) end
  if args.shown then redis.call('HSET', key, 'shown', args.shown) end
end

local has_root = redis.call('HEXISTS', key, 'shown') == 1
local members = redis.call('SCARD', members_key(integration, group))
local at
if is_due then
  at = now
  redis.call('HSET', key, 'since', at)
elseif args.newsAt and (members > 0 or has_root) then
  at = math.min(args.newsAt, want or args.newsAt)
elseif want then
  at = args.sent and math.max(want, now + interval) or want
  redis.call('HSET', key, 'since', at)
elseif members > 0 or has_root then
  at = args.nextAt or now + math.max(60000, interval)
end
-- What still fires when its suppression ends is late from then on, or was late before it went stale.
if at and suppressed and suppressed.lateFrom then
  local is_late = suppressed.lateFrom <= now or redis.call('HEXISTS', key, 'since') == 0
  if is_late then redis.call('HSET', key, 'since', suppressed.lateFrom) end
end
if args.rootAt and has_root and at and args.rootAt < at then
  redis.call('HSET', key, 'later', at)
  at = args.rootAt
end
if at then redis.call('ZADD', due, at, group) else redis.call('ZREM', due, group) end
if touched then
  touch(integration, group, now)
  at = tonumber(redis.call('ZSCORE', due, group) or '')
end
if members == 0 and not has_root then redis.call('PEXPIRE', key, math.max(60000, interval * 2)) end
return at and cjson.encode(at)
