/** Who is calling (DESIGN, "Callers"); as whom a caller may act is asked in `agents.ts`. */

export type Caller =
  | { readonly kind: 'local' } // loopback or stdio without credentials
  | { readonly kind: 'operator' } // HTTP_BEARER_TOKEN

export const local: Caller = { kind: 'local' }
export const operator: Caller = { kind: 'operator' }

/** A short stable text for what a caller is: sessions are bound to it. */
export function callerKey(caller: Caller): string {
  return caller.kind
}
