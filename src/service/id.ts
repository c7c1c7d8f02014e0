/** An id as the service gives it: 24 hex digits (contract: "Location"), any other text of a bearable length as well. */
import { z } from "zod";

/** `__proto__` is the one text that is no key of an object, ioredis' replies among them. */
export const Id = z
  .string()
  .min(1)
  .max(256)
  .refine((id) => id !== "__proto__");
