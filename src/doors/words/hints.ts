/** How a door words a hint around the one of core. */
import type { HubError } from '../../base/errors.ts'

/** The hint of core, and the call that this door has for it. */
export const and =
  (calls: string) =>
  ({ hint }: HubError): string =>
    hint === undefined ? calls : `${hint} ${calls}`

/** Only where core has nothing more to the point to say. */
export const otherwise =
  (hint: string) =>
  (error: HubError): string =>
    error.hint ?? hint

/** How a key is sent. */
export const overHttp = 'Over HTTP a key goes into the header "Authorization: Bearer <key>".'
