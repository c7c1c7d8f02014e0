-- A pace token: one use of the endpoint per paceMs. KEYS[1] when it may be used next; args now, paceMs.
-- Returns 0 when taken, else how many ms to wait.
local free = tonumber(redis.call('GET', KEYS[1]) or 0)
if free > args.now and free <= args.now + 2 * args.paceMs then return free - args.now end
redis.call('SET', KEYS[1], args.now + args.paceMs, 'PX', args.paceMs * 2)
return 0
