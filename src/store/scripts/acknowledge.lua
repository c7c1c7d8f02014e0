-- Changes the acknowledgement of an episode while it fires: that of a resolved one would never be deleted.
-- KEYS[1] acknowledgements; args episode, acknowledgement (JSON), before (the one stored, or ''), now, log (log.lua),
--         isEarlier (it ends earlier than `before` would have)
-- Returns JSON {integration: due}, 0 where it does not fire, -1 where another acknowledgement than `before` is stored.
if not is_firing(args.episode) then return 0 end
local stored = redis.call('HGET', KEYS[1], args.episode) or ''
if stored ~= args.acknowledgement then
  if stored ~= args.before then return -1 end
  redis.call('HSET', KEYS[1], args.episode, args.acknowledgement)
  write_log(args.log)
end
-- What was never notified is late from now on; the others have a reminder, an update or nothing to send. A decision
-- under way took it for suppressed.
for _, destination in ipairs(redis.call('SMEMBERS', p .. 'in:' .. args.episode)) do
  local integration, group = split_destination(destination)
  local set = redis.call('HMGET', group_key(integration, group), 'claimed', 'suppressed')
  local is_unnotified = set[1] or string.find(set[2] or '', '"' .. args.episode .. '"', 1, true)
  if args.isEarlier and is_unnotified then
    due_at(integration, group, args.now)
  else
    touch(integration, group, args.now, args.isEarlier)
  end
end
return cjson.encode(wakes)
