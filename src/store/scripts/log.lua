-- The decision log, shared by the scripts that follow it.
-- Keys, each after the prefix:
--   log:<kind>/<id>  list, newest first, of JSON [at, rule, integration, reason, detail, until]
--   logs             sorted set: subject -> when its newest line was written
--   log:rows         how many lines there are in all
-- Each subject keeps an equal share of MOST lines, within LEAST_EACH and MOST_EACH. Beyond MOST in all, the subject
-- without a new line for the longest time is deleted.
local LOOK_BACK, MOST_EACH, LEAST_EACH, MOST = 50, 500, 20, 1500000

local function begins(text, start) return string.sub(text, 1, #start) == start end

-- The line without its time.
local function body_of(row) return string.sub(row, string.find(row, ',', 1, true) + 1) end

-- Whether this line is stored already. Mode `spell`: whether it is the newest of its rule and integration.
local function is_stored(list, line)
  local body = line.track .. line.reason .. line.rest
  for _, row in ipairs(redis.call('LRANGE', list, 0, LOOK_BACK - 1)) do
    if row == '[' .. line.at .. ',' .. body then return true end
    local known = body_of(row)
    if line.mode == 'spell' and begins(known, line.track) then
      if known == body then return true end
      if not begins(known, line.track .. line.reason) then return false end
    end
  end
  return false
end

-- Mode `count`: removes the line that the new one replaces. Gives the new count and how many lines were removed; no
-- count where this very line is stored already.
local function take_count(list, line)
  for _, row in ipairs(redis.call('LRANGE', list, 0, LOOK_BACK - 1)) do
    local known = body_of(row)
    if begins(known, line.track) then
      if not begins(known, line.track .. line.reason) then break end
      if begins(row, '[' .. line.at .. ',') then return nil, 0 end
      redis.call('LREM', list, 1, row)
      return (tonumber(string.match(known, '"(%d+)"%]$')) or 1) + 1, 1
    end
  end
  return 1, 0
end

local function trim(list, length, each, oldest)
  if length > each then
    redis.call('LTRIM', list, 0, each - 1)
    length = each
  end
  while length > 1 and tonumber(string.match(redis.call('LINDEX', list, -1), '%d+')) < oldest do
    redis.call('RPOP', list)
    length = length - 1
  end
  return length
end

local function delete_old_subjects(oldest, rows)
  local old = redis.call('ZRANGEBYSCORE', p .. 'logs', '-inf', '(' .. oldest, 'LIMIT', 0, 100)
  while true do
    local subject = table.remove(old)
    if not subject and rows > MOST then subject = redis.call('ZRANGE', p .. 'logs', 0, 0)[1] end
    if not subject then break end
    rows = redis.call('DECRBY', p .. 'log:rows', redis.call('LLEN', p .. 'log:' .. subject))
    redis.call('DEL', p .. 'log:' .. subject)
    redis.call('ZREM', p .. 'logs', subject)
  end
  if rows <= 0 then redis.call('DEL', p .. 'log:rows') end
end

-- Writes lines. `log`: nil, or {oldest (to keep), lines: [{subject, at, mode, track, reason, rest}]}, where track (rule
-- and integration), reason and rest (detail) are pieces of the line's JSON. A line of any mode but '' may be sent twice.
local function write_log(log)
  if not log then return end
  local each = math.floor(MOST / math.max(1, redis.call('ZCARD', p .. 'logs')))
  each = math.max(LEAST_EACH, math.min(MOST_EACH, each))
  local grown = 0
  for _, line in ipairs(log.lines) do
    local list, rest, count, taken = p .. 'log:' .. line.subject, line.rest, 1, 0
    if line.mode == 'count' then
      count, taken = take_count(list, line)
      if count then rest = ',"' .. count .. '"]' end
    elseif line.mode ~= '' and is_stored(list, line) then
      count = nil
    end
    if count then
      local length = redis.call('LPUSH', list, '[' .. line.at .. ',' .. line.track .. line.reason .. rest)
      grown = grown + 1 - taken - length + trim(list, length, each, log.oldest)
      redis.call('ZADD', p .. 'logs', line.at, line.subject)
    end
  end
  delete_old_subjects(log.oldest, redis.call('INCRBY', p .. 'log:rows', grown))
end
