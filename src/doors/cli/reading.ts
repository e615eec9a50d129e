/** `parley topics list`, `show` and `presence`. */
import { limits } from '../../base/limits.ts'
import { type Caller, local } from '../../core/access/callers.ts'
import type { Hub } from '../../core/hub/hub.ts'
import { needTopicCalled, summarizeTopics, type TopicSummary } from '../../core/topics/care.ts'
import { listPresent } from '../../core/topics/members.ts'
import { type Entry, findStart, readEntries } from '../../core/topics/transcript.ts'
import { ago, iso } from '../words/times.ts'
import { harmlessJson, harmlessLine } from './harmless.ts'
import { messageText } from './messages.ts'
import type { Screen } from './screen.ts'
import { toMessage, toPeer, toSummary } from './shapes.ts'
import { paint, table } from './tables.ts'

/** The common arguments of all commands. */
export interface Desk {
  readonly hub: Hub
  /** Whoever acts, where a command acts in somebody's name. */
  readonly caller: Caller
  readonly screen: Screen
  readonly project: string
  /** Whether a program reads the answer. */
  readonly json: boolean
}

export const count = (number: number, one: string): string =>
  `${number.toLocaleString('en')} ${one}${number === 1 ? '' : 's'}`

const when = ({ hub, screen }: Desk, ms: number): string => (screen.tty ? ago(ms, hub.clock.now()) : iso(ms))

export async function listCommand(desk: Desk, { status }: { status: 'open' | 'closed' | 'all' }): Promise<void> {
  const { hub, screen, project, json } = desk
  const topics = await summarizeTopics(hub, local, project, status)
  if (json)
    return screen.out(
      `${harmlessJson({ project, topics: topics.map(toSummary), count: topics.length, has_more: false })}\n`,
    )
  if (topics.length === 0 && screen.tty) return screen.note(noTopics(project, status))
  const columns = [
    { title: 'name', shrinks: true },
    { title: 'id' },
    { title: 'status' },
    { title: 'messages', align: 'right' },
    { title: 'peers', align: 'right' },
    { title: 'last activity' },
  ] as const
  const rows = topics.map(({ name, uid, status, messages, peers, activeAt }) => [
    name,
    uid,
    status,
    String(messages),
    String(peers),
    when(desk, activeAt),
  ])
  return screen.out(table(columns, rows, screen))
}

function noTopics(project: string, status: string): string {
  const kind = status === 'all' ? 'topics' : `${status} topics`
  const more = status === 'open' ? ' `parley topics list --status all` shows closed ones too.' : ''
  return `There are no ${kind} in ${harmlessLine(project)}.${more}`
}

export async function showCommand(
  desk: Desk,
  { topic: called, limit, before }: { topic: string; limit: number; before: number | undefined },
): Promise<void> {
  const { hub, screen, project, json } = desk
  const topic = await needTopicCalled(hub, local, project, called)
  const through = Math.min(topic.messages, (before ?? Number.MAX_SAFE_INTEGER) - 1)
  const start = await findStart(hub, local, topic, { before: through + 1, count: limit })
  const entries = readEntries(hub, local, topic, { after: start, through })
  if (json) return writeDocument(desk, { topic, hasMore: start > 0, entries })
  await screen.out(`${headline(desk, topic)}\n\n`)
  if (start > 0) await screen.note(`${count(start, 'earlier message')}: --before ${start + 1}\n`)
  for await (const entry of entries) await screen.out(messageText(entry, screen, when(desk, entry.createdAt)))
}

/** A topic with its messages as one JSON document, written as it is read: it may be too large to be held at once. */
export async function writeDocument(
  { screen }: Desk,
  { topic, hasMore, entries }: { topic: TopicSummary; hasMore: boolean; entries: AsyncIterable<Entry> },
): Promise<void> {
  await screen.out(`${harmlessJson({ topic: toSummary(topic), has_more: hasMore }).slice(0, -1)},"messages":[`)
  let between = ''
  for await (const entry of entries) {
    await screen.out(between + harmlessJson(toMessage(topic, entry)))
    between = ','
  }
  await screen.out(']}\n')
}

function headline(desk: Desk, topic: TopicSummary): string {
  const { screen } = desk
  const reason = topic.closeReason === undefined ? '' : ` (${harmlessLine(topic.closeReason)})`
  const facts = [
    topic.uid,
    topic.status + (topic.status === 'closed' ? reason : ''),
    count(topic.messages, 'message'),
    count(topic.peers, 'peer'),
    when(desk, topic.activeAt),
  ]
  return `${paint(screen, 'bold', harmlessLine(topic.name))}${paint(screen, 'dim', ` · ${facts.join(' · ')}`)}`
}

export async function presenceCommand(
  desk: Desk,
  { topic: called, window }: { topic: string; window: number },
): Promise<void> {
  const { hub, screen, project, json } = desk
  const topic = await needTopicCalled(hub, local, project, called)
  const { now, peers, hasMore } = await listPresent(hub, local, project, {
    uid: topic.uid,
    windowMs: window * 1000,
    limit: limits.listed,
  })
  if (json) {
    const { uid: topic_id, name } = topic
    const shown = peers.map((peer) => toPeer(peer, now))
    const answer = { topic_id, name, window_seconds: window, now: iso(now), peers: shown, count: shown.length }
    return screen.out(`${harmlessJson({ ...answer, has_more: hasMore })}\n`)
  }
  if (peers.length === 0 && screen.tty)
    return screen.note(`Nobody has read ${harmlessLine(JSON.stringify(topic.name))} in the last ${window} s.`)
  const columns = [
    { title: 'peer', shrinks: true },
    { title: 'read to', align: 'right' },
    { title: 'behind', align: 'right' },
    { title: 'last seen' },
  ] as const
  const rows = peers.map(({ name, lastSeq, seenAt }) => [
    name,
    String(lastSeq),
    String(Math.max(0, topic.messages - lastSeq)),
    when(desk, seenAt),
  ])
  return screen.out(table(columns, rows, screen))
}
