-- Makes the writes of decision log lines, each a command and its arguments.
local function write_log(writes)
  for _, words in ipairs(writes) do redis.call(unpack(words)) end
end
