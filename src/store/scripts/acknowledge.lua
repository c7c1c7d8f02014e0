-- Changes the acknowledgement of an episode while it fires: that of a resolved one would never be deleted.
-- KEYS[1] acknowledgements; args episode, acknowledgement (JSON), before (the one stored, or ''), now, audit (audit.lua),
--         log (log.lua), isEarlier (it ends earlier than `before` would have)
-- Returns JSON {integration: due}, 0 where it does not fire, -1 where another acknowledgement than `before` is stored.
if not is_firing(args.episode) then return 0 end
local stored = redis.call('HGET', KEYS[1], args.episode) or ''
if stored ~= args.acknowledgement then
  if stored ~= args.before then return -1 end
  redis.call('HSET', KEYS[1], args.episode, args.acknowledgement)
  write_audit(args.audit)
  write_log(args.log)
end
-- Only where it suppressed something: other groups keep their `group_wait`.
for _, destination in ipairs(args.isEarlier and redis.call('SMEMBERS', p .. 'in:' .. args.episode) or {}) do
  local integration, group = split_destination(destination)
  local suppressed = redis.call('HGET', group_key(integration, group), 'suppressed') or ''
  local is_notified = redis.call('HEXISTS', p .. 'nflog:' .. integration, args.episode) == 1
  if is_notified or string.find(suppressed, '"' .. args.episode .. '"', 1, true) then
    due_at(integration, group, args.now)
  end
end
return cjson.encode(wakes)
