/** `parley topics export`: a whole topic as a page to read, or as lines of JSON. */

import { type FileHandle, open } from 'node:fs/promises'
import { local } from '../../../core/access/callers.ts'
import { needTopicCalled, type TopicSummary } from '../../../core/topics/topic-admin.ts'
import { type Entry, findLastSeq, readEntries } from '../../../core/topics/transcript.ts'
import { iso } from '../../words/times.ts'
import { outJson } from '../commands.ts'
import { notWritten } from '../failures.ts'
import { harmlessJson, harmlessLine } from '../terminal/harmless.ts'
import { count, quoted } from '../terminal/phrases.ts'
import { messageMarkdown, titleMarkdown } from './messages.ts'
import { type Desk, writeDocument } from './reading.ts'
import { toMessage } from './shapes.ts'

export interface Exporting {
  readonly format: 'md' | 'jsonl'
  readonly output?: string
}

export async function exportCommand(
  desk: Desk,
  { topic: called, format, output }: Exporting & { readonly topic: string },
): Promise<void> {
  const { hub, screen, project, json } = desk
  const topic = await needTopicCalled(hub, local, project, called)
  const through = await findLastSeq(hub, local, topic)
  const entries = readEntries(hub, local, topic, { after: 0, through })
  if (json && output === undefined) return writeDocument(desk, { topic, entries })
  const pieces = render(desk, topic, { format, entries })
  if (output === undefined) {
    for await (const piece of pieces) await screen.out(piece)
    return
  }
  await writeFile(output, pieces)
  const { uid: topic_id, name } = topic
  if (json) return outJson(screen, { topic_id, name, format, messages: through, output })
  await screen.out(`Wrote ${count(through, 'message')} of ${quoted(name)} to ${harmlessLine(output)}.\n`)
}

async function* render(
  { hub, project }: Desk,
  topic: TopicSummary,
  { format, entries }: Pick<Exporting, 'format'> & { readonly entries: AsyncIterable<Entry> },
): AsyncGenerator<string> {
  if (format === 'md') yield front(topic, { project, now: hub.clock.now() })
  for await (const entry of entries)
    yield format === 'md' ? messageMarkdown(entry) : `${harmlessJson(toMessage(topic, entry))}\n`
}

function front(topic: TopicSummary, { project, now }: { project: string; now: number }): string {
  const { uid, name, status, createdAt, closedAt, closeReason, messages, peers } = topic
  const closed = closedAt === undefined ? '' : ` since ${iso(closedAt)}`
  const reason = closeReason === undefined ? '' : ` (${titleMarkdown(closeReason)})`
  return `# ${titleMarkdown(name)}

| | |
|---|---|
| topic | ${uid} |
| project | ${titleMarkdown(project)} |
| status | ${status}${closed}${reason} |
| created | ${iso(createdAt)} |
| exported | ${iso(now)} |
| messages | ${messages} |
| peers | ${peers} |

`
}

async function writeFile(path: string, pieces: AsyncIterable<string>): Promise<void> {
  let file: FileHandle | undefined
  try {
    file = await open(path, 'w')
    for await (const piece of pieces) await file.write(piece)
  } catch (error) {
    throw notWritten(error, 'Name another one with --output, or leave it out to write to standard output.')
  } finally {
    await file?.close()
  }
}
