/** The resource of the mail door about leases. */

import { z } from 'zod'
import { limits } from '../../../base/limits.ts'
import type { Hub } from '../../../core/hub/hub.ts'
import { listLeases } from '../../../core/leases/leases.ts'
import { BareList, type Resource } from '../../mcp/table.ts'
import { toReservation } from '../../words/leases.ts'
import { limitParameter } from '../../words/parameters.ts'
import { flagParameter, idParameter, projectParameter } from '../fields.ts'
import { defineResource } from '../resource.ts'
import type { MailScope } from '../scope.ts'

/** Agents ask for active leases; past ones are shown on demand. */
const params = z.object({
  slug: projectParameter,
  active_only: flagParameter(true),
  limit: limitParameter(200, limits.listed),
  before: idParameter.optional(),
})

export function leaseResources(hub: Hub): Resource<MailScope>[] {
  const fileReservations = defineResource({
    uri: 'resource://file_reservations/{slug}{?active_only,limit,before}',
    name: 'file_reservations',
    description:
      'The file reservations of a project, the newest first; active_only=false shows past ones too. before takes the last id for the next page.',
    own: { project: 'slug' },
    params,
    async read({ slug, active_only, limit, before }, { caller }) {
      const { leases, hasMore } = await listLeases(hub, caller, slug, { activeOnly: active_only, limit, before })
      return new BareList(leases.map(toReservation), {
        has_more: hasMore,
        ...(hasMore && { next_before: leases.at(-1)?.id }),
      })
    },
  })
  return [fileReservations]
}
