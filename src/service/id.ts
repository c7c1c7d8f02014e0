/** An id of the service: 24 hex digits (contract: "Location"), or any other text of up to 256 characters. */
import { z } from "zod";

/** `__proto__` cannot be a key of an object, as in ioredis' replies. */
export const Id = z
  .string()
  .min(1)
  .max(256)
  .refine((id) => id !== "__proto__");
