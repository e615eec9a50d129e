/** Marks of a person at the pages: a message is new since the last visit, until it is opened. Each person by name, or browser, has marks of its own (web.new.own). */
import { nameKey } from '../../base/names.ts'
import {
  deleteGone,
  findFirstNew,
  findFloor,
  insertPerson,
  listMarks,
  listNew,
  type PersonRow,
  raiseFloor,
  updateSeen,
  updateVisit,
} from '../../store/pages/people.ts'
import type { Caller } from '../access/callers.ts'
import { pageSight } from '../access/rules.ts'
import { commit, itself } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import type { PageMessage } from './page-message.ts'

/** Somebody at the pages: by the name of a login, else the browser; undefined for one that keeps no cookie. */
export interface Person {
  readonly key: string | undefined
  readonly name: string | undefined
}

export const namedPerson = (name: string): Person => ({ key: `name:${nameKey(name)}`, name })
export const browserPerson = (id: string | undefined): Person => ({
  key: id === undefined ? undefined : `browser:${id}`,
  name: undefined,
})

export interface Marks {
  readonly person: Person
  /** Messages up to this one are seen. */
  readonly floor: number
  /** When the last visit ended. */
  readonly since: number
  /** How far the threads were read that were opened since. */
  readonly threads: ReadonlyMap<number, { readonly id: number; readonly at: number }>
  /** The searches that the person keeps, by name. */
  readonly searches: readonly SavedSearch[]
}

export interface SavedSearch {
  /** The path of its page, with its query. */
  readonly path: string
  readonly title: string
}

/** For whoever is not asked after: nothing is new. */
export const unmarked = (person: Person): Marks => ({
  person,
  floor: Number.MAX_SAFE_INTEGER,
  since: 0,
  threads: new Map(),
  searches: [],
})

const [minute, day] = [60_000, 86_400_000]
/** After so long without a page, the next one begins a new visit. */
const visitGapMs = 30 * minute
/** How exactly the end of a visit is known: a page more often than that writes nothing. */
const touchMs = minute
/** A browser that has not come for so long is forgotten. */
const forgottenMs = 180 * day

/** On a first visit the last day is new (web.new.first). A page that is only looked at by a program begins no visit. */
export async function readMarks(hub: Hub, caller: Caller, person: Person): Promise<Marks> {
  const { key } = person
  const kept = async () => (key === undefined ? [] : await listMarks(reader(hub), key))
  const rows = await kept()
  const now = hub.clock.now()
  const [row] = rows
  if (row === undefined) {
    const [floor, at] = [await findFloor(reader(hub), now - day), now - day]
    await keep(hub, caller, person, async (tx, own) => {
      await deleteGone(tx, now - forgottenMs)
      await insertPerson(tx, own, { floor, at, now })
    })
    const begun = await kept()
    return begun.length > 0 ? toMarks(person, begun) : { ...unmarked(person), floor, since: at }
  }
  const idle = now - (row.visited_at ?? 0)
  if (idle >= visitGapMs) {
    await keep(hub, caller, person, (tx, own) => raiseFloor(tx, own, { now }))
    return toMarks(person, await kept())
  }
  if (idle >= touchMs) await keep(hub, caller, person, (tx, own) => updateVisit(tx, own, now))
  return toMarks(person, rows)
}

function toMarks(person: Person, rows: readonly PersonRow[]): Marks {
  const threads = new Map<number, { id: number; at: number }>()
  for (const { thread_id, seen_id, seen_at } of rows)
    if (thread_id !== null) threads.set(thread_id, { id: seen_id ?? 0, at: seen_at ?? 0 })
  const searches = rows.flatMap(({ path, title }) => (path === null ? [] : [{ path, title: title ?? path }]))
  return {
    person,
    floor: rows[0]?.floor_id ?? 0,
    since: rows[0]?.floor_at ?? 0,
    threads,
    searches: searches.sort((a, b) => a.title.localeCompare(b.title)),
  }
}

type Keeping = Parameters<typeof commit>[2]

/** Marks are Parley's own notes, and made again by the next page: a reader may have them, and no disk is waited for. */
async function keep(
  hub: Hub,
  { readOnly }: Caller,
  { key }: Person,
  work: (tx: Parameters<Keeping>[0], own: string) => Promise<unknown>,
): Promise<void> {
  if (key === undefined || readOnly) return
  try {
    await commit(hub, itself, (tx) => work(tx, key), { repeatable: true })
  } catch (error) {
    // A page is shown also where nothing can be written.
    hub.log.warn({ err: error }, 'what a person has seen could not be kept')
  }
}

type Seen = Pick<PageMessage, 'id' | 'threadId' | 'overseer' | 'author'>

/** The person's own words are not new. */
export function isNew({ person, floor, threads }: Marks, { id, threadId, overseer, author }: Seen): boolean {
  if (id <= Math.max(floor, threads.get(threadId)?.id ?? 0)) return false
  if (!overseer) return true
  return person.name === undefined ? author !== undefined : nameKey(author ?? '') !== nameKey(person.name)
}

/** When the person was last there: in this thread, or at all. */
export const seenAt = ({ floor, since, threads }: Marks, threadId: number): number => {
  const own = threads.get(threadId)
  return own !== undefined && own.id > floor ? own.at : since
}

/** The oldest message of a thread that is new to the person and stands before those that are shown, which come in their order. */
export async function findMissed(
  hub: Hub,
  caller: Caller,
  { person, floor, threads }: Marks,
  [first]: readonly Seen[],
): Promise<number | undefined> {
  if (first === undefined || person.key === undefined) return undefined
  const above = Math.max(floor, threads.get(first.threadId)?.id ?? 0)
  if (first.id <= above) return undefined
  return findFirstNew(reader(hub), {
    threadId: first.threadId,
    above,
    below: first.id,
    nameKey: person.name === undefined ? undefined : nameKey(person.name),
    sight: pageSight(caller),
  })
}

/** The messages were shown: those of their threads up to them are seen. Returns the marks from now on. */
export async function markSeen(hub: Hub, caller: Caller, marks: Marks, shown: readonly Seen[]): Promise<Marks> {
  const now = hub.clock.now()
  const newest = new Map<number, number>()
  for (const { id, threadId } of shown) newest.set(threadId, Math.max(id, newest.get(threadId) ?? 0))
  const further = [...newest].filter(
    ([threadId, id]) => id > Math.max(marks.floor, marks.threads.get(threadId)?.id ?? 0),
  )
  if (further.length === 0) return marks
  await keep(hub, caller, marks.person, async (tx, own) => {
    for (const [threadId, seenId] of further) await updateSeen(tx, own, { threadId, seenId, now })
  })
  const threads = new Map(marks.threads)
  for (const [threadId, id] of further) threads.set(threadId, { id, at: now })
  return { ...marks, threads }
}

/** Everything there is counts as seen. */
export const markAllSeen = (hub: Hub, caller: Caller, person: Person): Promise<void> =>
  keep(hub, caller, person, (tx, own) => raiseFloor(tx, own, { now: hub.clock.now(), whole: true }))

export interface NewCounts {
  readonly total: number
  /** By the id of a project, and of a thread. */
  readonly projects: ReadonlyMap<number, number>
  readonly threads: ReadonlyMap<number, number>
  /** There may be more, older than those that were counted. */
  readonly capped: boolean
}

/** So many of the newest messages are counted: 1 ms on SQLite. */
const mostCounted = 1000

/** All numbers of the sidebar in one statement, each of messages, and only of those in sight. */
export async function countNewTo(hub: Hub, caller: Caller, { person, floor }: Marks): Promise<NewCounts> {
  const { key = '', name } = person
  const rows = await listNew(reader(hub), {
    person: key,
    nameKey: name === undefined ? undefined : nameKey(name),
    floor,
    sight: pageSight(caller),
    most: mostCounted,
  })
  const projects = new Map<number, number>()
  const threads = new Map<number, number>()
  let total = 0
  for (const { thread_id, project_id, count } of rows) {
    threads.set(thread_id, Number(count))
    projects.set(project_id, (projects.get(project_id) ?? 0) + Number(count))
    total += Number(count)
  }
  return { total, projects, threads, capped: (rows[0]?.after_floor ?? 0) > mostCounted }
}
