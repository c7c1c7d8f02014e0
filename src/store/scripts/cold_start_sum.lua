-- Makes alerts members of the summary wherever they are to be told; with the last page it becomes due everywhere.
-- The same page twice changes nothing more.
-- KEYS[1] the marker
-- ARGV    prefix, now, integrations JSON [id], alerts JSON [episode], labels JSON, '1' for the last page
-- Returns 1, or 0 where the summary was made already
if redis.call('HGET', KEYS[1], 'state') ~= 'gathering' then return 0 end
local integrations = cjson.decode(ARGV[3])
local here = {}
for _, integration in ipairs(integrations) do here[integration] = true end
for _, episode in ipairs(cjson.decode(ARGV[4])) do
  for _, place in ipairs(redis.call('SMEMBERS', p .. 'in:' .. episode)) do
    local integration = split_place(place)
    if here[integration] then
      redis.call('SADD', members_key(integration, 'started'), episode)
      redis.call('SADD', p .. 'in:' .. episode, integration .. '\nstarted')
    end
  end
end
if ARGV[6] ~= '1' then return 1 end
for _, integration in ipairs(integrations) do
  redis.call('HSET', group_key(integration, 'started'), 'labels', ARGV[5], 'wait', 0, 'interval', 0, 'repeat', 0, 'since', ARGV[2])
  redis.call('ZADD', p .. 'due:' .. integration, ARGV[2], 'started')
  redis.call('SADD', p .. 'integrations', integration)
end
redis.call('HSET', KEYS[1], 'state', 'summed')
return 1
