-- Writes lines of the decision log that belong to no other write. KEYS[1] logs; args log (log.lua).
write_log(args.log)
