-- A replica reports itself and learns which configuration is active for each role: the one that was loaded last (the
-- highest generation) by a replica still there. One replica at a time exposes the fleet. Replicas that sweep with the
-- active configuration share the shards.
-- KEYS[1] replicas
-- args    replica, hash (of its configuration), roles [role], generation (absent: asks for the next), now,
--         silentAfterMs (a replica silent for longer is removed), mayExpose, leaseMs (of exposing), sweeps (whether it
--         does), awayAfterMs (a replica silent for longer has no share)
-- Returns JSON {generation, exposes, active: {role: hash}, sharing: [replica]}
local id, now = args.replica, args.now
local generation = args.generation or redis.call('INCR', p .. 'generation')
-- After Redis was emptied, generations go on from those the replicas have.
if tonumber(redis.call('GET', p .. 'generation') or 0) < generation then
  redis.call('SET', p .. 'generation', generation)
end

if #args.roles > 0 then
  local own = {hash = args.hash, generation = generation, roles = args.roles, at = now, sweeps = args.sweeps}
  redis.call('HSET', KEYS[1], id, cjson.encode(own))
end

local newest, sweeping = {}, {}
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  local other = cjson.decode(all[i + 1])
  local silent_ms = all[i] == id and 0 or now - other.at
  if silent_ms > args.silentAfterMs then
    redis.call('HDEL', KEYS[1], all[i])
  else
    for _, role in ipairs(other.roles) do
      if not newest[role] or newest[role].generation < other.generation then newest[role] = other end
    end
    if other.sweeps and silent_ms <= args.awayAfterMs then sweeping[all[i]] = other.hash end
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
local sharing = {}
for replica, hash in pairs(sweeping) do
  if hash == active.poll then table.insert(sharing, replica) end
end
return cjson.encode({generation = generation, exposes = exposes, active = active, sharing = sharing})
