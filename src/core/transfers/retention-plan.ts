/** The plan of moving old mail out: whole threads without a message since then, all of it read and acknowledged. */

import type { Reader } from '../../db/port.ts'
import { listQuiet, listQuietParts, type QuietRow, sumFiles } from '../../store/mail/retiring.ts'
import type { Caller } from '../access/callers.ts'
import { needSteering } from '../access/rules.ts'
import { type Hub, longReader } from '../hub/hub.ts'
import { keptProjects, oldBefore, type RetentionRules } from '../mail/retention-report.ts'
import { fileAll } from '../messages/filing.ts'
import type { Project } from '../projects/projects.ts'

export type MovingRules = Pick<RetentionRules, 'maxAgeDays' | 'ignored'>

/** A thread that may go. */
export interface OldThread {
  readonly id: number
  /** The number of its next message: another message changes it. */
  readonly nextSeq: number
  readonly messages: number
  readonly bytes: number
}

interface Share {
  readonly agent: string
  messages: number
  bytes: number
}

export interface ProjectPlan {
  readonly project: Project
  threads: number
  messages: number
  /** Of the bodies. */
  bytes: number
  /** Of the files that they carry; those that newer messages carry too stay. */
  fileBytes: number
  /** By sender, the one with the most messages first. */
  readonly senders: readonly Share[]
  /** Old threads that stay, because somebody has not read or acknowledged a message in them. */
  held: number
}

/** Threads looked at in one go. */
const pageSize = 200

/** One project after the other; those without old mail too. */
export async function* planRetention(hub: Hub, caller: Caller, rules: MovingRules): AsyncGenerator<ProjectPlan> {
  needSteering(caller)
  await fileAll(hub)
  const before = oldBefore(hub, rules)
  for await (const project of keptProjects(hub, rules.ignored)) yield planProject(hub, project, before)
}

async function planProject(hub: Hub, project: Project, before: number): Promise<ProjectPlan> {
  const senders = new Map<string, Share>()
  const plan = { project, threads: 0, messages: 0, bytes: 0, fileBytes: 0, held: 0 }
  for await (const { old, held, parts } of listOld(hub, project.id, before)) {
    plan.held += held
    plan.threads += old.length
    const ids = new Set(old.map(({ id }) => id))
    for (const part of parts) {
      if (!ids.has(part.thread_id)) continue
      const agent = part.sender_project === project.slug ? part.sender : `${part.sender}@${part.sender_project}`
      const share = senders.get(agent) ?? { agent, messages: 0, bytes: 0 }
      senders.set(agent, share)
      for (const sum of [plan, share]) {
        sum.messages += Number(part.messages)
        sum.bytes += Number(part.bytes)
      }
    }
    plan.fileBytes += await sumFiles(longReader(hub), [...ids])
  }
  const most = [...senders.values()].sort((a, b) => b.messages - a.messages || (a.agent < b.agent ? -1 : 1))
  return { ...plan, senders: most }
}

/** Page by page: the threads that may go, and how many old ones stay. */
export async function* listOld(hub: Hub, projectId: number, before: number) {
  const db = longReader(hub)
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page: Awaited<ReturnType<typeof listQuiet>> = await listQuiet(db, {
      projectId,
      after,
      before,
      limit: pageSize,
    })
    after = page.last
    const { old, held, parts } = await judgeThreads(db, page.ids, before)
    if (old.length > 0 || held > 0) yield { old, held, parts }
  }
}

/** The same judgement before the mail is written out, and in the transaction that removes it. */
export async function judgeThreads(db: Reader, ids: readonly number[], before: number) {
  const parts = await listQuietParts(db, ids)
  const old: OldThread[] = []
  let held = 0
  for (const [id, own] of Map.groupBy(parts, ({ thread_id }) => thread_id)) {
    if (own.some(({ newest, mail }) => newest >= before || mail === 0)) continue
    if (own.some(({ open }) => Number(open) > 0)) held++
    else old.push({ id, nextSeq: own[0]?.next_seq ?? 0, messages: sum(own, 'messages'), bytes: sum(own, 'bytes') })
  }
  return { old, held, parts }
}

const sum = (rows: readonly QuietRow[], column: 'messages' | 'bytes'): number =>
  rows.reduce((total, row) => total + Number(row[column]), 0)
