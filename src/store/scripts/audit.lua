-- The audit log, shared by the scripts that follow it.
-- Keys, each after the prefix:
--   audit:done     stream of {e: JSON}: changes that were made
--   audit:refused  stream of {e: JSON}: attempts that were refused, which so never displace a change
--   audit:visits   stream of {e: JSON}: sign-ins and sign-outs, which neither do
local AUDIT_MOST = { done = 10000, refused = 2000, visits = 2000 }

local function add_entry(key, entry, ms, sequence)
  local id = string.format('%.0f-%.0f', ms, sequence)
  return redis.pcall('XADD', key, 'MAXLEN', AUDIT_MOST[entry.stream], id, 'e', entry.text)
end

-- Writes entries. `audit`: nil, or {at, oldest (to keep), keptMs, entries: [{stream, text}]}. Ids go up with the time of
-- the writer, also where its clock is behind the last one's. What cannot be added to is begun again.
local function write_audit(audit)
  if not audit then return end
  for _, entry in ipairs(audit.entries) do
    local key, ms, sequence = p .. 'audit:' .. entry.stream, audit.at, 0
    local last = redis.pcall('XREVRANGE', key, '+', '-', 'COUNT', 1)[1]
    if last then
      local last_ms, last_sequence = string.match(last[1], '(%d+)-(%d+)')
      if tonumber(last_ms) >= ms then ms, sequence = tonumber(last_ms), tonumber(last_sequence) + 1 end
    end
    if type(add_entry(key, entry, ms, sequence)) == 'table' then
      redis.call('DEL', key)
      add_entry(key, entry, audit.at, 0)
    end
    redis.call('XTRIM', key, 'MINID', audit.oldest)
    redis.call('PEXPIRE', key, audit.keptMs)
  end
end
