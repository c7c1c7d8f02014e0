-- The one atomic write: the document, the changed alerts, and the groups now due, or nothing at all.
-- KEYS[1] document hash (n nonce, d document, and other fields)
-- args    expected (nonce, '' none), nonce, now, whole (the hash has nothing else), fields (texts of other fields),
--         attempt {subject, value (JSON)}, incidents {oldest, most} (to keep), groups {shard, hasValue},
--         destinations, changes [{kind, id, to [index in destinations, from 0], endsAt}], log (log.lua)
-- ARGV[2] and on, too much to be quoted inside args: the document; names and texts of other fields in turn; the groups
--         (JSON) if there are any; of each change the alert (JSON), and its incident (JSON) if it resolved
-- Returns JSON {outcome: 'stored' | 'already' | 'lost', wakes}
local now = args.now
-- Where nothing could be sent for this long, what fired and resolved meanwhile is dropped instead of sent late.
local LATE_MOST_MS = 7 * 86400000
-- A process further behind than this many writes of alerts reads all of them again.
local ALERT_WRITES_LOGGED = 200
-- Even, and far fewer than Lua's stack can hold.
local FIELDS_A_CALL = 1000
local current = redis.call('HGET', KEYS[1], 'n') or ''
if current == args.nonce then return cjson.encode({outcome = 'already'}) end
if current ~= args.expected then return cjson.encode({outcome = 'lost'}) end

if args.whole then redis.call('DEL', KEYS[1]) end
redis.call('HSET', KEYS[1], 'n', args.nonce, 'd', ARGV[2])
local read = 2
while read < args.fields + 2 do
  local last = math.min(read + FIELDS_A_CALL, args.fields + 2)
  redis.call('HSET', KEYS[1], unpack(ARGV, read + 1, last))
  read = last
end
local function next_text()
  read = read + 1
  return ARGV[read]
end
if args.groups and args.groups.hasValue then redis.call('HSET', p .. 'groups', args.groups.shard, next_text())
elseif args.groups then redis.call('HDEL', p .. 'groups', args.groups.shard) end
if args.attempt then redis.call('HSET', p .. 'attempts', args.attempt.subject, args.attempt.value) end

local function fire(change)
  redis.call('HSET', p .. 'alerts', change.id, 'F' .. next_text())
  for _, index in ipairs(change.to) do
    local to = args.destinations[index + 1]
    configure(to)
    join(to.integration, to.group, change.id)
    make_due(to.integration, to.group, now)
  end
end

-- The end is due in a group; an episode that is late and was never notified leaves it instead.
local function resolve_in(integration, group, episode)
  local since = tonumber(redis.call('HGET', group_key(integration, group), 'since') or now)
  local is_late = now - since > LATE_MOST_MS
  if is_late and redis.call('HEXISTS', p .. 'nflog:' .. integration, episode) == 0 then
    leave_group(integration, group, episode)
  elseif group ~= 'started' then -- the cold start's summary is sent once, whatever its members do
    make_due(integration, group, now)
  end
end

local function resolve(change)
  local alert, incident = next_text(), next_text()
  local destinations = redis.call('SMEMBERS', p .. 'in:' .. change.id)
  if #destinations == 0 then
    redis.call('HDEL', p .. 'alerts', change.id)
  else
    redis.call('HSET', p .. 'alerts', change.id, 'R' .. alert)
  end
  for _, destination in ipairs(destinations) do
    local integration, group = split_destination(destination)
    resolve_in(integration, group, change.id)
  end
  end_suppression(change.id, now, true)
  redis.call('HDEL', p .. 'acks', change.id)
  redis.call('ZADD', p .. 'incidents', change.endsAt, incident)
end

local changed = {}
for i, change in ipairs(args.changes) do
  changed[i] = change.id
  if change.kind == 'firing' then fire(change)
  elseif change.kind == 'resolved' then resolve(change)
  else
    local alert = next_text()
    if redis.call('HEXISTS', p .. 'alerts', change.id) == 1 then
      redis.call('HSET', p .. 'alerts', change.id, 'F' .. alert)
    end
  end
end
if #changed > 0 then
  -- Never the same number again, also after Redis was emptied.
  redis.call('SET', p .. 'alerts:rev', math.floor(now), 'NX')
  redis.call('LPUSH', p .. 'alerts:log', cjson.encode({redis.call('INCR', p .. 'alerts:rev'), changed}))
  redis.call('LTRIM', p .. 'alerts:log', 0, ALERT_WRITES_LOGGED - 1)
end
-- The shard was read: what waited for that is sent, as it is now.
if args.attempt then end_suppression(args.attempt.subject, now) end
redis.call('ZREMRANGEBYSCORE', p .. 'incidents', '-inf', '(' .. args.incidents.oldest)
redis.call('ZREMRANGEBYRANK', p .. 'incidents', 0, -(args.incidents.most + 1))
write_log(args.log)
return cjson.encode({outcome = 'stored', wakes = wakes})
