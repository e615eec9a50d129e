/** Related projects: suggestions for people, who confirm or dismiss them. It permits nothing: contacts do. */
import { HubError } from '../../base/errors.ts'
import { listSuggested, upsertDecided } from '../../store/pages/related-projects.ts'
import type { Caller } from '../access/callers.ts'
import { mayRoam, needPerson } from '../access/rules.ts'
import { commit } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { needProject } from '../projects/projects.ts'

interface Suggestion {
  readonly a: { readonly slug: string; readonly key: string }
  readonly b: { readonly slug: string; readonly key: string }
  readonly percent: number
  readonly reason: string
}

const mostSuggested = 20

/** The likeliest first. The holder of a key is told of no other project. */
export async function listSuggestions(hub: Hub, caller: Caller): Promise<Suggestion[]> {
  if (!mayRoam(caller)) return []
  const rows = await listSuggested(reader(hub), mostSuggested)
  return rows.map(({ a_slug, a_key, b_slug, b_key, percent, reason }) => ({
    a: { slug: a_slug, key: a_key },
    b: { slug: b_slug, key: b_key },
    percent,
    reason,
  }))
}

interface RelatedDecision {
  /** Slug or key. */
  readonly other: string
  readonly confirm: boolean
}

export async function decideRelated(
  hub: Hub,
  caller: Caller,
  project: string,
  { other, confirm }: RelatedDecision,
): Promise<void> {
  needPerson(caller)
  const [here, there] = [await needProject(hub, caller, project), await needProject(hub, caller, other)]
  if (here.id === there.id)
    throw new HubError('INVALID_ARGUMENT', 'A project is not related to itself.', { hint: 'Name another project.' })
  const [a, b] = here.id < there.id ? [here.id, there.id] : [there.id, here.id]
  await commit(hub, caller, async (tx, note) => {
    const status = confirm ? 'confirmed' : 'dismissed'
    await upsertDecided(tx, { a, b, status, now: hub.clock.now() })
    for (const projectId of [a, b]) note({ kind: confirm ? 'project.linked' : 'project.unlinked', projectId })
  })
}
