/** `${NAME}` and `${NAME:-default}` in a value, read from the environment. `$${` stands for a literal `${`. */
export type Environment = Readonly<Record<string, string | undefined>>;

const REFERENCE = /\$\$\{|\$\{([^}]*)\}?/g;
const NAME_AND_DEFAULT = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([\s\S]*))?$/;

/**
 * The text with its references replaced once, not recursively; the `names` that were read, in order, those `missing`
 * without a default, and whether some reference is `malformed`.
 */
export function substitute(text: string, env: Environment) {
  const names: string[] = [];
  const missing: string[] = [];
  let malformed = false;
  const value = text.replace(REFERENCE, (whole, inside: string | undefined) => {
    if (inside === undefined) return "${";
    const reference = whole.endsWith("}") ? NAME_AND_DEFAULT.exec(inside) : null;
    const name = reference?.[1];
    if (name === undefined) {
      malformed = true;
      return "";
    }
    names.push(name);
    const found = Object.hasOwn(env, name) ? env[name] : undefined;
    const fallback = reference?.[2];
    if (fallback !== undefined) return found || fallback;
    if (found === undefined) missing.push(name);
    return found ?? "";
  });
  return { value, names, missing, malformed };
}
