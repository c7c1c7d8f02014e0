-- Ends sessions. KEYS[1] sessions; args ids, audit (audit.lua), written where one of them existed. Returns JSON [id] of those.
local ended = {}
for _, id in ipairs(args.ids) do
  redis.call('ZREM', KEYS[1], id)
  if redis.call('DEL', p .. 'session:' .. id) == 1 then table.insert(ended, id) end
end
if #ended == 0 then return '[]' end
write_audit(args.audit)
return cjson.encode(ended)
