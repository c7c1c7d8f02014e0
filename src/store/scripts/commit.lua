-- The one atomic write: the document, the changed alerts, and the groups now due, or nothing at all.
-- KEYS[1] document hash (n nonce, d document)
-- ARGV    prefix, expected nonce ('' none), new nonce, document, now, attempts field, attempts value, changes,
--         oldest incident to keep, most incidents to keep, lines of the incident log
--         changes: JSON [{op, id, alert, to: [[integration, group, labels, wait, interval, repeat, storm]], incident}]
-- Returns {'stored' | 'already' | 'lost', integration, due, integration, due, ...}
local now = tonumber(ARGV[5])
-- Where nobody could be told anything for this long, what begins and ends is not kept to be told late.
local LATE_MOST_MS = 7 * 86400000
local current = redis.call('HGET', KEYS[1], 'n') or ''
if current == ARGV[3] then return {'already'} end
if current ~= ARGV[2] then return {'lost'} end

redis.call('HSET', KEYS[1], 'n', ARGV[3], 'd', ARGV[4])
if ARGV[6] ~= '' then redis.call('HSET', p .. 'attempts', ARGV[6], ARGV[7]) end

local wake = {}
local function note(integration, at)
  if not wake[integration] or wake[integration] > at then wake[integration] = at end
end

local changes = cjson.decode(ARGV[8])
if #changes > 0 then redis.call('SET', p .. 'rev', ARGV[3]) end
for _, change in ipairs(changes) do
  if change.op == 'firing' then
    redis.call('HSET', p .. 'alerts', change.id, 'F' .. change.alert)
    for _, to in ipairs(change.to) do
      local integration, group = to[1], to[2]
      redis.call('HSET', group_key(integration, group), 'labels', to[3], 'wait', to[4], 'interval', to[5], 'repeat', to[6], 'storm', to[7] or '')
      join(integration, group, change.id)
      note(integration, make_due(integration, group, now))
    end
  elseif change.op == 'resolved' then
    local places = redis.call('SMEMBERS', p .. 'in:' .. change.id)
    if #places == 0 then
      redis.call('HDEL', p .. 'alerts', change.id)
    else
      redis.call('HSET', p .. 'alerts', change.id, 'R' .. change.alert)
      for _, place in ipairs(places) do
        local integration, group = split_place(place)
        local since = tonumber(redis.call('HGET', group_key(integration, group), 'since') or now)
        local late = now - since > LATE_MOST_MS
        if late and redis.call('HEXISTS', p .. 'told:' .. integration, change.id) == 0 then
          leave_group(integration, group, change.id)
        elseif group ~= 'started' then
          -- The summary of a start is said once, whatever its members do.
          note(integration, make_due(integration, group, now))
        end
      end
    end
    free(change.id, now, note)
    redis.call('HDEL', p .. 'acks', change.id)
    redis.call('ZADD', p .. 'incidents', change.endsAt, change.incident)
  elseif redis.call('HEXISTS', p .. 'alerts', change.id) == 1 then
    redis.call('HSET', p .. 'alerts', change.id, 'F' .. change.alert)
  end
end
redis.call('ZREMRANGEBYSCORE', p .. 'incidents', '-inf', '(' .. ARGV[9])
redis.call('ZREMRANGEBYRANK', p .. 'incidents', 0, -(tonumber(ARGV[10]) + 1))
write_log(ARGV[11])

local result = {'stored'}
for integration, at in pairs(wake) do
  result[#result + 1] = integration
  result[#result + 1] = tostring(at)
end
return result
