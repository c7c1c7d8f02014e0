-- A pace token: one use of the endpoint per `step` ms. KEYS[1] when it may be used next; ARGV now, step.
-- Returns 0 when taken, else how many ms to wait.
local now, step = tonumber(ARGV[1]), tonumber(ARGV[2])
local free = tonumber(redis.call('GET', KEYS[1]) or 0)
if free > now and free <= now + 2 * step then return free - now end
redis.call('SET', KEYS[1], now + step, 'PX', step * 2)
return 0
