-- Makes alerts members of the cold start's summary at each integration they are routed to, and not escalated to; the
-- last page makes it due.
-- The same page twice changes nothing more.
-- KEYS[1] hash: state ('gathering' | 'summed'), since; args now, integrations [id], alerts [episode], labels (JSON), isLast
-- Returns 1, or 0 where the summary was made already
if redis.call('HGET', KEYS[1], 'state') ~= 'gathering' then return 0 end
local configured = {}
for _, integration in ipairs(args.integrations) do configured[integration] = true end
for _, episode in ipairs(args.alerts) do
  for _, destination in ipairs(redis.call('SMEMBERS', p .. 'in:' .. episode)) do
    local integration, group = split_destination(destination)
    local is_direct = not tonumber(redis.call('HGET', group_key(integration, group), 'after') or '')
    if configured[integration] and is_direct then join(integration, 'started', episode) end
  end
end
if not args.isLast then return 1 end
for _, integration in ipairs(args.integrations) do
  configure({integration = integration, group = 'started', labels = args.labels,
    groupWaitMs = 0, groupIntervalMs = 0, repeatIntervalMs = 0})
  redis.call('HSET', group_key(integration, 'started'), 'since', args.now)
  redis.call('ZADD', p .. 'due:' .. integration, args.now, 'started')
  redis.call('SADD', p .. 'integrations', integration)
end
redis.call('HSET', KEYS[1], 'state', 'summed')
return 1
