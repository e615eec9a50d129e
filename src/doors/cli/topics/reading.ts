/** `parley topics list`, `show` and `presence`. */
import { limits } from '../../../base/limits.ts'
import { type Caller, local } from '../../../core/access/callers.ts'
import type { Hub } from '../../../core/hub/hub.ts'
import { listPresent } from '../../../core/topics/members.ts'
import { needTopicCalled, summarizeTopics, type TopicSummary } from '../../../core/topics/topic-admin.ts'
import { type Entry, findStart, readEntries } from '../../../core/topics/transcript.ts'
import { iso } from '../../words/times.ts'
import { outList } from '../commands.ts'
import { harmlessJson, harmlessLine } from '../terminal/harmless.ts'
import { count, quoted, when } from '../terminal/phrases.ts'
import type { Screen } from '../terminal/screen.ts'
import { paint } from '../terminal/tables.ts'
import { messageText } from './messages.ts'
import { toMessage, toPeer, toSummary } from './shapes.ts'

/** The common arguments of all commands. */
export interface Desk {
  readonly hub: Hub
  /** For a command that acts in an agent's name. */
  readonly caller: Caller
  readonly screen: Screen
  readonly project: string
  /** Whether a program reads the answer. */
  readonly json: boolean
}

export async function listCommand(
  { hub, screen, project, json }: Desk,
  { status }: { status: 'open' | 'closed' | 'all' },
): Promise<void> {
  const topics = await summarizeTopics(hub, local, project, status)
  return outList(
    screen,
    { json },
    {
      document: { project, topics: topics.map(toSummary), count: topics.length },
      rows: topics,
      columns: {
        name: ['shrinks', ({ name }) => name],
        id: ['left', ({ uid }) => uid],
        status: ['left', ({ status }) => status],
        messages: ['right', ({ messages }) => messages],
        peers: ['right', ({ peers }) => peers],
        'last activity': ['left', ({ activeAt }) => when(screen, activeAt, hub.clock.now())],
      },
      none: noTopics(project, status),
      hasMore: false,
    },
  )
}

function noTopics(project: string, status: string): string {
  const kind = status === 'all' ? 'topics' : `${status} topics`
  const more = status === 'open' ? ' `parley topics list --status all` shows closed ones too.' : ''
  return `There are no ${kind} in ${harmlessLine(project)}.${more}`
}

export async function showCommand(
  desk: Desk,
  { topic: called, limit, before }: { topic: string; limit: number; before?: number },
): Promise<void> {
  const { hub, screen, project, json } = desk
  const topic = await needTopicCalled(hub, local, project, called)
  const through = Math.min(topic.messages, (before ?? Number.MAX_SAFE_INTEGER) - 1)
  const start = await findStart(hub, local, topic, { before: through + 1, count: limit })
  const entries = readEntries(hub, local, topic, { after: start, through })
  if (json) return writeDocument(desk, { topic, next: start > 0 ? start + 1 : undefined, entries })
  await screen.out(`${headline(desk, topic)}\n\n`)
  if (start > 0) await screen.note(`${count(start, 'earlier message')}: --before ${start + 1}\n`)
  for await (const entry of entries)
    await screen.out(messageText(entry, screen, when(screen, entry.createdAt, hub.clock.now())))
}

/** A topic with its messages as one JSON document, written as it is read: it may be too large to be held at once. */
export async function writeDocument(
  { screen }: Desk,
  { topic, next, entries }: { topic: TopicSummary; next?: number | undefined; entries: AsyncIterable<Entry> },
): Promise<void> {
  await screen.out(
    `${harmlessJson({ topic: toSummary(topic), has_more: next !== undefined, next_before: next ?? null }).slice(0, -1)},"messages":[`,
  )
  let between = ''
  for await (const entry of entries) {
    await screen.out(between + harmlessJson(toMessage(topic, entry)))
    between = ','
  }
  await screen.out(']}\n')
}

function headline({ hub, screen }: Desk, topic: TopicSummary): string {
  const reason = topic.closeReason === undefined ? '' : ` (${harmlessLine(topic.closeReason)})`
  const facts = [
    topic.uid,
    topic.status + (topic.status === 'closed' ? reason : ''),
    count(topic.messages, 'message'),
    count(topic.peers, 'peer'),
    when(screen, topic.activeAt, hub.clock.now()),
  ]
  return `${paint(screen, 'bold', harmlessLine(topic.name))}${paint(screen, 'dim', ` · ${facts.join(' · ')}`)}`
}

export async function presenceCommand(
  { hub, screen, project, json }: Desk,
  { topic: called, window }: { topic: string; window: number },
): Promise<void> {
  const topic = await needTopicCalled(hub, local, project, called)
  const { now, peers, hasMore } = await listPresent(hub, local, project, {
    uid: topic.uid,
    windowMs: window * 1000,
    limit: limits.listed,
  })
  const shown = peers.map((peer) => toPeer(peer, now))
  const { uid: topic_id, name } = topic
  return outList(
    screen,
    { json },
    {
      document: { topic_id, name, window_seconds: window, now: iso(now), peers: shown, count: shown.length },
      rows: peers,
      columns: {
        peer: ['shrinks', ({ name }) => name],
        'read to': ['right', ({ lastSeq }) => lastSeq],
        behind: ['right', ({ lastSeq }) => Math.max(0, topic.messages - lastSeq)],
        'last seen': ['left', ({ seenAt }) => when(screen, seenAt, now)],
      },
      none: `Nobody has read ${quoted(name)} in the last ${window} s.`,
      hasMore,
      how: 'There are more: a shorter --window shows the latest of them.',
    },
  )
}
