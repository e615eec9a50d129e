/** The participants of a thread, as far as a reader sees: gathered once, and then only from new messages. */
import { limits } from '../../base/limits.ts'
import { listMembers, listParties, type ThreadRow } from '../../store/threads/hub-threads.ts'
import type { Sight } from '../../store/visibility.ts'
import { type Hub, longReader } from '../hub/hub.ts'
import { memory, remember } from '../hub/memory.ts'
import { slugOfProject } from '../projects/projects.ts'

interface Gathered {
  /** The `seq` up to which messages were looked at. */
  upTo: number
  readonly parties: Map<number, { name: string; projectId: number }>
}

/** By thread and sight: what is in a thread stays, so that this grows only. */
const gathered = memory(() => new Map<string, Gathered>())

/** Messages of one look; others come in between. */
const seqsPerLook = 1000

export async function listParticipants(
  hub: Hub,
  { thread, sight, home }: { thread: ThreadRow; sight: Sight; home: number },
): Promise<string[]> {
  const parties = thread.topic === null ? await gather(hub, thread, sight) : await members(hub, thread)
  const names: string[] = []
  for (const { name, projectId } of parties.slice(0, limits.listed))
    names.push(projectId === home ? name : `${name}@${await slugOfProject(hub, projectId)}`)
  return names
}

const members = async (hub: Hub, { id }: ThreadRow) =>
  (await listMembers(longReader(hub), id, limits.listed)).map((row) => ({ name: row.name, projectId: row.project_id }))

async function gather(hub: Hub, { id, next_seq }: ThreadRow, sight: Sight) {
  const key = `${id}/${[sight.of, ...sight.granted].join(',')}`
  const known = gathered(hub).get(key) ?? remember(gathered(hub), key, { upTo: 0, parties: new Map() })
  const last = next_seq - 1
  for (let after = known.upTo; after < last; after += seqsPerLook) {
    const through = Math.min(after + seqsPerLook, last)
    const rows = await listParties(longReader(hub), { threadId: id, sight, after }, through)
    for (const row of rows)
      if (!known.parties.has(row.id)) known.parties.set(row.id, { name: row.name, projectId: row.project_id })
    known.upTo = Math.max(known.upTo, through)
  }
  return [...known.parties.values()]
}
