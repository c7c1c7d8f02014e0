-- Opens a session. KEYS[1] sessions; args id, text (JSON), token (its part of the JSON), now, ttlMs, most, audit (audit.lua).
-- Of more than `most`, the oldest of the same token is ended, else the oldest of all.
local function session(id) return p .. 'session:' .. id end
if redis.call('EXISTS', session(args.id)) == 1 then return 0 end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', args.now)
local ids = redis.call('ZRANGE', KEYS[1], 0, -1)
if #ids >= args.most then
  local oldest = ids[1]
  for _, id in ipairs(ids) do
    local text = redis.call('GET', session(id))
    if not text or string.find(text, args.token, 1, true) then
      oldest = id
      break
    end
  end
  redis.call('DEL', session(oldest))
  redis.call('ZREM', KEYS[1], oldest)
end
redis.call('SET', session(args.id), args.text, 'PX', args.ttlMs)
redis.call('ZADD', KEYS[1], args.now + args.ttlMs, args.id)
redis.call('PEXPIRE', KEYS[1], args.ttlMs)
write_audit(args.audit)
return 1
