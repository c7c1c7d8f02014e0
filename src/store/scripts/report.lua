-- A replica reports itself and learns which configuration is active for each role: the one that was loaded last (the
-- highest generation) by a replica still there. One replica at a time exposes the fleet.
-- KEYS[1] replicas
-- args    replica, hash (of its configuration), roles [role], generation (absent: asks for the next), now,
--         silentAfterMs (a replica silent for longer is removed), mayExpose, leaseMs (of exposing)
-- Returns JSON {generation, exposes, active: {role: hash}}
local id, now = args.replica, args.now
local generation = args.generation or redis.call('INCR', p .. 'generation')
-- After Redis was emptied, generations go on from those the replicas have.
if tonumber(redis.call('GET', p .. 'generation') or 0) < generation then
  redis.call('SET', p .. 'generation', generation)
end

if #args.roles > 0 then
  local own = {hash = args.hash, generation = generation, roles = args.roles, at = now}
  redis.call('HSET', KEYS[1], id, cjson.encode(own))
end

local newest = {}
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  local other = cjson.decode(all[i + 1])
  if all[i] ~= id and now - other.at > args.silentAfterMs then
    redis.call('HDEL', KEYS[1], all[i])
  else
    for _, role in ipairs(other.roles) do
      if not newest[role] or newest[role].generation < other.generation then newest[role] = other end
    end
  end
end

local exposing = redis.call('GET', p .. 'exposes')
local exposes = args.mayExpose and (not exposing or exposing == id)
if exposes then
  redis.call('SET', p .. 'exposes', id, 'PX', args.leaseMs)
elseif exposing == id then
  redis.call('DEL', p .. 'exposes')
end

local active = {}
for role, other in pairs(newest) do active[role] = other.hash end
return cjson.encode({generation = generation, exposes = exposes, active = active})
