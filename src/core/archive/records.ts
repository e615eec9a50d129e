/** Profiles and leases as commits. */
import { leaseText, profileText, subjectLine } from '../../archive/documents.ts'
import { leasePath, profilePath } from '../../archive/layout.ts'
import { type ArchivedAgentRow, type ArchivedLeaseRow, listPatternLeases } from '../../store/exports/archive.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { fromNamed } from '../leases/leases.ts'
import { addCommit, type Commits, homeOf } from './commits-by-project.ts'

export async function profileCommits(hub: Hub, row: ArchivedAgentRow, at: number): Promise<Commits> {
  const home = await homeOf(hub, row.project_id)
  const { id, name, program, model, task } = row
  const policies = { contactPolicy: row.contact_policy, attachmentsPolicy: row.attachments_policy }
  const commits: Commits = new Map()
  addCommit(commits, home.slug, {
    subject: subjectLine(`agent: ${name} (${program}, ${model})${task === '' ? '' : ` | ${task}`}`),
    at,
    files: [
      {
        path: profilePath(name),
        text: profileText({ id, name, program, model, task, ...policies, createdAt: row.created_at }, home),
      },
    ],
    about: [{ noun: 'agents', id }],
  })
  return commits
}

/** A pattern that is reserved again and again has this many in its file; git has those before. */
const reservations = 100

/** The file of a pattern, as of now; the commit is about one of its leases. */
export async function leaseCommits(hub: Hub, row: ArchivedLeaseRow, at: number): Promise<Commits> {
  const { slug } = await homeOf(hub, row.project_id)
  const { pattern, project_id: projectId } = row
  const rows = await listPatternLeases(reader(hub), { projectId, pattern, limit: reservations })
  const leases = rows.reverse().map(fromNamed)
  const commits: Commits = new Map()
  const until = new Date(row.expires_at).toISOString()
  const how = row.exclusive === 1 ? 'exclusive' : 'shared'
  addCommit(commits, slug, {
    subject: subjectLine(
      row.released_at === null
        ? `lease: ${row.agent} ${pattern} (${how}, until ${until})${row.reason === '' ? '' : ` | ${row.reason}`}`
        : `release: ${row.agent} ${pattern}${row.released_at >= row.expires_at ? ' (expired)' : ''}`,
    ),
    at,
    files: [{ path: leasePath(pattern), text: leaseText(pattern, leases) }],
    about: [{ noun: 'leases', id: row.id }],
  })
  return commits
}
