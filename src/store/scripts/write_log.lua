-- Writes lines of the incident log that belong to no other write.
-- KEYS[1] logs; ARGV prefix, lines as log.lua takes them
write_log(ARGV[2])
return 1
