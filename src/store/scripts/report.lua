-- A replica says that it is there and learns who does what. Per duty the configuration in force is the one that was
-- loaded last (the highest generation) by a replica still there; one replica at a time exposes the fleet.
-- KEYS[1] replicas
-- ARGV    prefix, replica, hash of its configuration, its duties JSON, its generation ('' asks for the next), now,
--         silence after which a replica counts as gone (ms), '1' it may expose the fleet, lease of that (ms)
-- Returns {generation, '1' it exposes the fleet, duty, hash in force, duty, hash in force, ...}
local p, id, now = ARGV[1], ARGV[2], tonumber(ARGV[6])
local generation = tonumber(ARGV[5]) or redis.call('INCR', p .. 'generation')
-- An emptied Redis counts on from what replicas remember.
if tonumber(redis.call('GET', p .. 'generation') or 0) < generation then
  redis.call('SET', p .. 'generation', generation)
end

local duties = cjson.decode(ARGV[4])
if #duties > 0 then
  local own = {hash = ARGV[3], generation = generation, duties = duties, at = now}
  redis.call('HSET', KEYS[1], id, cjson.encode(own))
end

local newest = {}
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  local other = cjson.decode(all[i + 1])
  if all[i] ~= id and now - other.at > tonumber(ARGV[7]) then
    redis.call('HDEL', KEYS[1], all[i])
  else
    for _, duty in ipairs(other.duties) do
      if not newest[duty] or newest[duty].generation < other.generation then newest[duty] = other end
    end
  end
end

local exposes = '0'
local holder = redis.call('GET', p .. 'exposes')
if ARGV[8] == '1' and (not holder or holder == id) then
  redis.call('SET', p .. 'exposes', id, 'PX', ARGV[9])
  exposes = '1'
elseif ARGV[8] ~= '1' and holder == id then
  redis.call('DEL', p .. 'exposes')
end

local result = {tostring(generation), exposes}
for duty, other in pairs(newest) do
  result[#result + 1] = duty
  result[#result + 1] = other.hash
end
return result
