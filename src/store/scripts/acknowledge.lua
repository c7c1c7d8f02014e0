-- Acknowledges an episode while it fires: the acknowledgement of a resolved one would never be deleted.
-- KEYS[1] acknowledgements; args episode, acknowledgement (JSON). Returns 1 when it was acknowledged.
if string.sub(redis.call('HGET', p .. 'alerts', args.episode) or '', 1, 1) ~= 'F' then return 0 end
redis.call('HSET', KEYS[1], args.episode, args.acknowledgement)
return 1
