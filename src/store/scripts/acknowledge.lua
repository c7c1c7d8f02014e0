-- Acknowledges an episode while it fires: the acknowledgement of a resolved one would never be deleted.
-- KEYS[1] acknowledgements; args episode, acknowledgement (JSON), before (the one stored, or ''), audit (audit.lua).
-- Returns 1 when it is acknowledged, 0 when it does not fire, -1 when another acknowledgement than `before` is stored.
if string.sub(redis.call('HGET', p .. 'alerts', args.episode) or '', 1, 1) ~= 'F' then return 0 end
local stored = redis.call('HGET', KEYS[1], args.episode) or ''
if stored == args.acknowledgement then return 1 end
if stored ~= args.before then return -1 end
redis.call('HSET', KEYS[1], args.episode, args.acknowledgement)
write_audit(args.audit)
return 1
