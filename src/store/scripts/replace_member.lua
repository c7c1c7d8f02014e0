-- Replaces a member of a sorted set that is still in it; its score stays.
-- KEYS[1] sorted set; args before, after
-- Returns 1 where it was replaced
local score = redis.call('ZSCORE', KEYS[1], args.before)
if not score then return 0 end
redis.call('ZREM', KEYS[1], args.before)
redis.call('ZADD', KEYS[1], score, args.after)
return 1
