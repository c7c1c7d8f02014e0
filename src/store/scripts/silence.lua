-- Writes silences; the groups that one of them suppressed something in are due at once.
-- KEYS[1] silences; args now, silences [{id, text (JSON), isOver}], forget [id]. Returns JSON {integration: due}
for _, id in ipairs(args.forget) do redis.call('HDEL', KEYS[1], id) end
for _, silence in ipairs(args.silences) do
  redis.call('HSET', KEYS[1], silence.id, silence.text)
  -- Longer than a claim lasts: a decision taken before this was written learns of it in settle.lua.
  if silence.isOver then redis.call('SET', p .. 'ended:' .. silence.id, '1', 'PX', 60000)
  else redis.call('DEL', p .. 'ended:' .. silence.id) end
  end_suppression(silence.id, args.now)
end
return cjson.encode(wakes)
