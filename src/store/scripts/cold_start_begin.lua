-- Whether this is a cold start. An empty store begins to gather what is wrong, and nothing is claimed (claim.lua) until
-- the summary is made.
-- KEYS[1] hash: state ('gathering' | 'summed'), since; args now. Returns JSON {gathering, since}
if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('HSET', KEYS[1], 'state', 'gathering', 'since', args.now) end
local started = redis.call('HMGET', KEYS[1], 'state', 'since')
return cjson.encode({gathering = started[1] == 'gathering', since = tonumber(started[2] or 0)})
