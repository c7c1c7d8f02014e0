-- Replaces a text that is still `before`; none is ''.
-- KEYS[1] text; args before, after
-- Returns 1 where it was replaced
if (redis.call('GET', KEYS[1]) or '') ~= args.before then return 0 end
redis.call('SET', KEYS[1], args.after)
return 1
