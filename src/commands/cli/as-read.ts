/** Schemas of `/api/v1` for a client: fields that a later daemon adds are left out, wherever they are. */
import { z } from "zod";

/** Gives the schema without its strictness. */
export function asRead<T extends z.ZodType>(schema: T): z.ZodType<z.output<T>> {
  return tolerant(schema) as z.ZodType<z.output<T>>;
}

function tolerant(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodReadonly) return tolerant(schema.unwrap());
  if (schema instanceof z.ZodNullable) return z.nullable(tolerant(schema.unwrap()));
  if (schema instanceof z.ZodArray) return z.array(tolerant(schema.element));
  if (!(schema instanceof z.ZodObject)) return schema;
  const fields = Object.entries(schema.shape).map(([name, field]) => [name, tolerant(field as z.core.$ZodType)]);
  return z.object(Object.fromEntries(fields));
}
