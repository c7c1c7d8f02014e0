-- Writes entries of the audit log that belong to no other write. KEYS[1] audit:done; args audit (audit.lua).
write_audit(args.audit)
