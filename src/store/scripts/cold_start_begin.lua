-- Whether there is a memory. Where there is none, the first picture is gathered from now on, and nobody claims
-- anything (claim.lua) until its summary is made.
-- KEYS[1] the marker: hash state ('gathering' | 'summed'), since; ARGV now
-- Returns {state, since}
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('HSET', KEYS[1], 'state', 'gathering', 'since', ARGV[1])
end
return redis.call('HMGET', KEYS[1], 'state', 'since')
