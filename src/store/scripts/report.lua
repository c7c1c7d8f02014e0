-- A replica reports itself and learns which configuration is active for each role: the one that was loaded last (the
-- highest generation) by a replica still there. A configuration whose replicas stopped twice without leaving is deferred
-- while another replica is there, until one of its own has run for `provenAfterMs`. One replica at a time exposes
-- the fleet. Replicas that sweep with the active configuration share the shards.
-- KEYS[1] replicas
-- args    replica, hash (of its configuration), roles [role], generation (absent: asks for the next), now,
--         silentAfterMs (a replica silent for longer is removed), missedAfterMs (and counts as stopped after this),
--         provenAfterMs, deathsKeptMs, mayExpose, leaseMs (of exposing), sweeps (whether it does),
--         awayAfterMs (a replica silent for longer has no share)
-- Returns JSON {generation, exposes, active: {role: hash}, sharing: [replica], deferred (hash, or absent)}
local id, now = args.replica, args.now
local generation = args.generation or redis.call('INCR', p .. 'generation')
-- After Redis was emptied, generations go on from those the replicas have.
if tonumber(redis.call('GET', p .. 'generation') or 0) < generation then
  redis.call('SET', p .. 'generation', generation)
end

if #args.roles > 0 then
  local before = redis.call('HGET', KEYS[1], id)
  local since = before and cjson.decode(before).since or now
  local own = {hash = args.hash, generation = generation, roles = args.roles, at = now, since = since, sweeps = args.sweeps}
  redis.call('HSET', KEYS[1], id, cjson.encode(own))
end

local function note_death(replica, other)
  redis.call('INCR', p .. 'deaths:' .. other.hash)
  redis.call('PEXPIRE', p .. 'deaths:' .. other.hash, args.deathsKeptMs)
  other.missed = true
  redis.call('HSET', KEYS[1], replica, cjson.encode(other))
end

local function is_steady(other)
  if other.at - (other.since or 0) >= args.provenAfterMs then return true end
  return tonumber(redis.call('GET', p .. 'deaths:' .. other.hash) or 0) < 2
end

local function keep_newest(of, other)
  for _, role in ipairs(other.roles) do
    if not of[role] or of[role].generation < other.generation then of[role] = other end
  end
end

local newest, steady, sweeping = {}, {}, {}
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  local other = cjson.decode(all[i + 1])
  local silent_ms = all[i] == id and 0 or now - other.at
  if silent_ms > args.missedAfterMs and not other.missed then note_death(all[i], other) end
  if silent_ms > args.silentAfterMs then
    redis.call('HDEL', KEYS[1], all[i])
  else
    keep_newest(newest, other)
    if other.sweeps and silent_ms <= args.awayAfterMs then sweeping[all[i]] = other.hash end
    if is_steady(other) then keep_newest(steady, other) end
  end
end

local exposing = redis.call('GET', p .. 'exposes')
local exposes = args.mayExpose and (not exposing or exposing == id)
if exposes then
  redis.call('SET', p .. 'exposes', id, 'PX', args.leaseMs)
elseif exposing == id then
  redis.call('DEL', p .. 'exposes')
end

local active, deferred = {}, nil
for role, other in pairs(newest) do
  active[role] = (steady[role] or other).hash
  if active[role] ~= other.hash then deferred = other.hash end
end
local sharing = {}
for replica, hash in pairs(sweeping) do
  if hash == active.poll then table.insert(sharing, replica) end
end
local status = {generation = generation, exposes = exposes, active = active, sharing = sharing, deferred = deferred}
return cjson.encode(status)
