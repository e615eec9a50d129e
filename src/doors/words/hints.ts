/** How a door words a hint around the one of core. */
import type { HubError } from '../../base/errors.ts'
import type { Reach } from '../mcp/table.ts'

/** The call that a door has for an error; a function where it depends on the tools that are offered. */
type Calls = string | ((reach: Reach) => string)

const worded = (calls: Calls, reach: Reach): string => (typeof calls === 'function' ? calls(reach) : calls)

/** The hint of core, and the call that this door has for it. */
export const and =
  (calls: Calls) =>
  ({ hint }: HubError, reach: Reach): string =>
    [hint, worded(calls, reach)].filter(Boolean).join(' ')

/** Only where core has nothing more to the point to say. */
export const otherwise =
  (hint: Calls) =>
  (error: HubError, reach: Reach): string =>
    error.hint ?? worded(hint, reach)

/** How a key is sent. */
export const overHttp = 'Over HTTP a key goes into the header "Authorization: Bearer <key>".'
