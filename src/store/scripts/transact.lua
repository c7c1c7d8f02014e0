-- Makes all writes of a transaction, or none: only where each of its checks holds.
-- KEYS[1] any key of the prefix, so that a cluster knows where to run it
-- ARGV    the transaction's id; how many checks there are; then each check and each write as the number of its words and
--         the words. A check: GET or HGET, its key and field, and the version that its document has to have ('' none). A
--         document is its version, a line break, its text. A write: a command and its arguments.
-- Returns 'stored'; 'already' where a checked document has this id as its version; the number of the first check that
--         fails, from 0
local read = 3
local function next_words()
  local first, last = read + 1, read + tonumber(ARGV[read])
  read = last + 1
  return unpack(ARGV, first, last)
end

local function version_of(text)
  local line = text and string.find(text, '\n', 1, true)
  return line and string.sub(text, 1, line - 1) or text or ''
end

local failed
for check = 1, tonumber(ARGV[2]) do
  local words = {next_words()}
  local expected = table.remove(words)
  local version = version_of(redis.call(unpack(words)))
  if version == ARGV[1] then return 'already' end
  if version ~= expected then failed = failed or check - 1 end
end
if failed then return failed end
while read <= #ARGV do redis.call(next_words()) end
return 'stored'
