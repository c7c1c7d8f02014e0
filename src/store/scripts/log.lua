-- The incident log, shared by the scripts below it.
-- Lines   log:<kind>/<id>  list, newest first, of JSON [at, rule, integration, reason, detail]
--         logs             sorted set: subject -> when its newest line was written
--         log:rows         how many lines there are in all
-- A subject keeps as many lines as are left for each, MOST_EACH at most; all together keep MOST, whoever has been
-- quiet longest gives way.
local LOOK_BACK, MOST_EACH, LEAST_EACH, MOST = 50, 500, 20, 1500000

local function begins(text, start) return string.sub(text, 1, #start) == start end

-- The line without its time.
local function body_of(row) return string.sub(row, string.find(row, ',', 1, true) + 1) end

-- Whether this very line is there; with `spell`, whether it was written since something else was said at its place.
local function is_there(list, at, track, reason, rest, mode)
  local body = track .. reason .. rest
  for _, row in ipairs(redis.call('LRANGE', list, 0, LOOK_BACK - 1)) do
    if row == '[' .. at .. ',' .. body then return true end
    local known = body_of(row)
    if mode == 'spell' and begins(known, track) then
      if known == body then return true end
      if not begins(known, track .. reason) then return false end
    end
  end
  return false
end

-- The line of its place that counts is taken out: gives the count the new one has, or nothing where it is there.
local function take_count(list, at, track, reason)
  for _, row in ipairs(redis.call('LRANGE', list, 0, LOOK_BACK - 1)) do
    local known = body_of(row)
    if begins(known, track) then
      if not begins(known, track .. reason) then break end
      if begins(row, '[' .. at .. ',') then return nil, 0 end
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

local function forget_quiet(oldest, rows)
  local quiet = redis.call('ZRANGEBYSCORE', p .. 'logs', '-inf', '(' .. oldest, 'LIMIT', 0, 100)
  while true do
    local subject = table.remove(quiet)
    if not subject and rows > MOST then subject = redis.call('ZRANGE', p .. 'logs', 0, 0)[1] end
    if not subject then break end
    rows = redis.call('DECRBY', p .. 'log:rows', redis.call('LLEN', p .. 'log:' .. subject))
    redis.call('DEL', p .. 'log:' .. subject)
    redis.call('ZREM', p .. 'logs', subject)
  end
  if rows <= 0 then redis.call('DEL', p .. 'log:rows') end
end

-- Writes lines down. `text`: nil or '' for none, or JSON {oldest to keep, lines: [[subject, at, rule and integration, reason, detail,
-- '' | 'same' | 'spell' | 'count']]}, the middle ones being the pieces of the line's JSON. All but '' may be repeated.
local function write_log(text)
  if not text or text == '' then return end
  local log = cjson.decode(text)
  local each = math.floor(MOST / math.max(1, redis.call('ZCARD', p .. 'logs')))
  each = math.max(LEAST_EACH, math.min(MOST_EACH, each))
  local grown = 0
  for _, line in ipairs(log.lines) do
    local subject, at, track, reason, rest, mode = unpack(line)
    local list, count, taken = p .. 'log:' .. subject, 1, 0
    if mode == 'count' then
      count, taken = take_count(list, at, track, reason)
      if count then rest = ',"' .. count .. '"]' end
    elseif mode ~= '' and is_there(list, at, track, reason, rest, mode) then
      count = nil
    end
    if count then
      local length = redis.call('LPUSH', list, '[' .. at .. ',' .. track .. reason .. rest)
      grown = grown + 1 - taken - length + trim(list, length, each, log.oldest)
      redis.call('ZADD', p .. 'logs', at, subject)
    end
  end
  forget_quiet(log.oldest, redis.call('INCRBY', p .. 'log:rows', grown))
end
