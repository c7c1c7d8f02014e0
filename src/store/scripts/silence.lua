-- Writes silences; the groups that one of them suppressed something in are due at once, and the roots that name one of
-- the `touched` episodes are brought up to date.
-- KEYS[1] silences; args now, silences [{id, text (JSON), isOver, before}], forget [id], touched [episode].
-- `before`: as it has to be stored, '' for not at all; nil: as it may be. Returns JSON {integration: due}, or 0 where one
-- is stored otherwise, and nothing is written. All being stored already, as by a call sent twice, is no conflict.
local is_change, is_other = false, false
for _, silence in ipairs(args.silences) do
  local stored = redis.call('HGET', KEYS[1], silence.id) or ''
  if stored ~= silence.text then is_change = true end
  if silence.before and stored ~= silence.before then is_other = true end
end
if is_change and is_other then return 0 end
for _, id in ipairs(args.forget) do redis.call('HDEL', KEYS[1], id) end
for _, silence in ipairs(args.silences) do
  redis.call('HSET', KEYS[1], silence.id, silence.text)
  -- Longer than a claim lasts: a decision taken before this was written learns of it in settle.lua.
  if silence.isOver then redis.call('SET', p .. 'ended:' .. silence.id, '1', 'PX', 60000)
  else redis.call('DEL', p .. 'ended:' .. silence.id) end
  end_suppression(silence.id, args.now)
end
for _, episode in ipairs(args.touched) do touch_episode(episode, args.now) end
return cjson.encode(wakes)
