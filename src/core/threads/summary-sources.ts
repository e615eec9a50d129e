/** Reads a thread for its summary: the first message and the newest, once for each state of the thread. */

import { nextTurn } from '../../base/clock.ts'
import { ownWords } from '../../base/preamble.ts'
import { firstLine } from '../../base/text.ts'
import {
  listOpenRecipients,
  listThreadStates,
  listTold,
  listWriters,
  type ThreadStateRow,
  type ToldRow,
} from '../../store/threads/summaries.ts'
import type { ProjectSight } from '../../store/visibility.ts'
import { cut, readLength, withoutFiles } from '../../summaries/lines.ts'
import { type Prompt, startExcerpts } from '../../summaries/prompt.ts'
import { type Participant, type Summary, startSummary, type Told } from '../../summaries/summary.ts'
import type { Caller } from '../access/callers.ts'
import { sightOf } from '../access/rules.ts'
import { type Hub, longReader, reader } from '../hub/hub.ts'
import { memory } from '../hub/memory.ts'
import { needProject, slugOfProject } from '../projects/projects.ts'
import { noThread } from './mail-threads.ts'

export interface Example {
  readonly id: number
  readonly from: string
  readonly subject: string
  readonly createdAt: number
  /** The beginning of it. */
  readonly text: string
}

export interface SummarisedThread {
  readonly key: string
  readonly summary: Summary
  /** All who wrote in it. */
  readonly writers: readonly Participant[]
  readonly examples: readonly Example[]
  /** The thread as a language model is shown it. */
  readonly prompt: Prompt
}

interface ThreadToSummarise {
  readonly project: string
  readonly key: string
  /** The number of messages to read: the first, and the newest. */
  readonly limit: number
}

const pageSize = 50
/** Others have their turn after some 5 ms of work. */
const charactersPerTurn = 50_000
const exampleLength = 300
/** Of the text that stands in for a missing subject. */
const subjectLength = 120

/** The last summaries, the newest at the end. */
const madeLast = memory(() => new Map<string, SummarisedThread>())

const mostKept = 100

/** Rejects with THREAD_NOT_FOUND if the project sees nothing of such a thread. */
export async function summariseThread(
  hub: Hub,
  caller: Caller,
  { project, key, limit }: ThreadToSummarise,
): Promise<SummarisedThread> {
  const home = await needProject(hub, caller, project)
  const sight = sightOf(caller, home.id)
  // Counts the messages of the thread, which may be many.
  const states = await listThreadStates(longReader(hub), sight, key)
  if (states.length === 0) throw noThread(home, key)
  const state = JSON.stringify([sight, key, limit, states.map(({ id, total, last_id }) => [id, total, last_id])])
  const made = madeLast(hub)
  const summarised = made.get(state) ?? (await summarise(hub, { sight, key, limit, states }))
  made.delete(state)
  const [oldest] = made.keys()
  if (made.size >= mostKept && oldest !== undefined) made.delete(oldest)
  made.set(state, summarised)
  return summarised
}

interface Reading {
  readonly sight: ProjectSight
  readonly key: string
  readonly limit: number
  readonly states: readonly ThreadStateRow[]
}

async function summarise(hub: Hub, reading: Reading): Promise<SummarisedThread> {
  const collected = startSummary()
  const excerpts = startExcerpts()
  const told = await readEnds(hub, reading)
  let size = 0
  for (const message of told) {
    collected.add(message)
    excerpts.add(message)
    size += message.body.length
    if (size < charactersPerTurn) continue
    size = 0
    await nextTurn()
  }
  const writers = await readWriters(hub, reading)
  const shown = told.length > 3 ? [...told.slice(0, 1), ...told.slice(-2)] : told
  return {
    key: reading.key,
    summary: collected.finish(writers),
    writers,
    examples: shown.map(toExample),
    prompt: excerpts.prompt(),
  }
}

const toExample = ({ id, from, subject, createdAt, body }: Told): Example => ({
  id,
  from,
  subject,
  createdAt,
  text: cut(withoutFiles(body), exampleLength),
})

async function readWriters(hub: Hub, { sight, states }: Reading): Promise<Participant[]> {
  const written = new Map<string, number>()
  // As long as the thread, which nobody else waits for.
  for (const { id: threadId, project_id } of states)
    for (const row of await listWriters(longReader(hub), { threadId, sight, guest: project_id !== sight.projectId })) {
      const name = await nameOf(hub, sight.projectId, row)
      written.set(name, (written.get(name) ?? 0) + row.messages)
    }
  return [...written].map(([name, messages]) => ({ name, messages }))
}

/** The first message tells the subject of a thread: it is one of those that are read, where there is room for two. */
async function readEnds(hub: Hub, { sight, limit, states }: Reading): Promise<Told[]> {
  const first: ToldRow[] = []
  const newest: ToldRow[] = []
  for (const { id: threadId, project_id } of states) {
    const thread = { threadId, sight, guest: project_id !== sight.projectId, length: readLength }
    first.push(...(await listTold(reader(hub), { ...thread, oldestFirst: true, limit: 1 })))
    let before: number | undefined
    for (let left = limit; left > 0; left -= pageSize) {
      const found = await listTold(reader(hub), { ...thread, before, limit: Math.min(pageSize, left) })
      newest.push(...found)
      before = found.at(-1)?.id
      if (found.length < pageSize) break
      await nextTurn()
    }
  }
  const [oldest] = first.sort(byId)
  const rows = newest.sort(byId).slice(-limit)
  if (oldest !== undefined && limit > 1 && rows.length === limit) rows[0] = oldest
  return toTold(hub, sight.projectId, rows)
}

const byId = (a: ToldRow, b: ToldRow): number => a.id - b.id

const nameOf = async (hub: Hub, home: number, { name, project_id }: { name: string; project_id: number }) =>
  project_id === home ? name : `${name}@${await slugOfProject(hub, project_id)}`

async function toTold(hub: Hub, home: number, rows: readonly ToldRow[]): Promise<Told[]> {
  const recipients = Map.groupBy(
    await listOpenRecipients(
      reader(hub),
      rows.map(({ id }) => id),
    ),
    (row) => row.message_id,
  )
  const told: Told[] = []
  for (const row of rows) {
    const to: string[] = []
    for (const one of recipients.get(row.id) ?? []) to.push(await nameOf(hub, home, one))
    const { id, created_at: createdAt, reply_to } = row
    const body = ownWords(row.sender, row.body)
    const subject = cut(firstLine(row.subject), subjectLength)
    const from = await nameOf(hub, home, { name: row.sender, project_id: row.sender_project })
    told.push({ id, from, to, subject, body, createdAt, replyTo: reply_to ?? undefined })
  }
  return told
}
