-- Acknowledges an episode while it fires: one that ended meanwhile would keep its acknowledgement for ever.
-- KEYS[1] acknowledgements; ARGV alerts, episode, acknowledgement
-- Returns 1 when it was acknowledged
if string.sub(redis.call('HGET', ARGV[1], ARGV[2]) or '', 1, 1) ~= 'F' then return 0 end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
return 1
