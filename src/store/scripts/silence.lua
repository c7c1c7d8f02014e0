-- Writes silences; where one of them held something back, it is looked at again at once.
-- KEYS[1] silences
-- ARGV    prefix, now, silences JSON [[id, text, 1 when it is over]], ids to drop JSON [id]
-- Returns {integration, due, integration, due, ...}
local now = tonumber(ARGV[2])
local wake = {}
local function note(integration, at)
  if not wake[integration] or wake[integration] > at then wake[integration] = at end
end

for _, id in ipairs(cjson.decode(ARGV[4])) do redis.call('HDEL', KEYS[1], id) end
for _, silence in ipairs(cjson.decode(ARGV[3])) do
  redis.call('HSET', KEYS[1], silence[1], silence[2])
  -- Longer than a claim lasts: who decided before this was written learns of it when settling.
  if silence[3] == 1 then redis.call('SET', p .. 'ended:' .. silence[1], '1', 'PX', 60000)
  else redis.call('DEL', p .. 'ended:' .. silence[1]) end
  free(silence[1], now, note)
end

local result = {}
for integration, at in pairs(wake) do
  result[#result + 1] = integration
  result[#result + 1] = tostring(at)
end
return result
