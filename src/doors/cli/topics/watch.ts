/** `parley topics watch`: the last messages, and then new ones as they come, until Ctrl-C. */

import { HubError } from '../../../base/errors.ts'
import { local } from '../../../core/access/callers.ts'
import { needTopicCalled } from '../../../core/topics/topic-admin.ts'
import type { Topic } from '../../../core/topics/topics.ts'
import { awaitNews, type Entry, findLastSeq, findStart, readEntries } from '../../../core/topics/transcript.ts'
import { clock, iso } from '../../words/times.ts'
import { outJson } from '../commands.ts'
import { harmlessLine } from '../terminal/harmless.ts'
import { quoted } from '../terminal/phrases.ts'
import { untilSignal } from '../terminal/until-signal.ts'
import { messageText } from './messages.ts'
import type { Desk } from './reading.ts'
import { toMessage } from './shapes.ts'

export type From = number | 'now'

/** Without a place to begin, the last few messages show the subject. */
const lastFew = 10

export async function watchCommand(desk: Desk, { topic: called, from }: { topic: string; from?: From }): Promise<void> {
  const { hub, screen, project } = desk
  const { signal, release } = untilSignal()
  try {
    let topic: Topic = await needTopicCalled(hub, local, project, called)
    const last = await findLastSeq(hub, local, topic)
    let after = await startOf(desk, topic, { from, last })
    for await (const entry of readEntries(hub, local, topic, { after, through: last })) {
      if (signal.aborted) return
      await show(desk, topic, entry)
    }
    after = Math.max(after, last)
    await screen.note(
      `— Watching ${quoted(topic.name)}${topic.status === 'closed' ? ', which is closed' : ''}. Ctrl-C ends. —`,
    )
    while (!signal.aborted) {
      const news = await awaitNews(hub, local, { topic, after, signal }).catch(explainGone(topic))
      if (news === undefined) return
      for (const entry of news.entries) await show(desk, topic, entry)
      after = news.entries.at(-1)?.seq ?? after
      for (const text of differences(topic, news.topic)) await screen.note(`— ${text} —`)
      topic = news.topic
    }
  } finally {
    release()
  }
}

async function startOf(
  { hub }: Desk,
  topic: Topic,
  { from, last }: { from: From | undefined; last: number },
): Promise<number> {
  if (from === 'now') return last
  return from === undefined ? findStart(hub, local, topic, { count: lastFew, before: last + 1 }) : from - 1
}

/** For a program one line a message; for a person, as `show` does it. */
async function show({ hub, screen, json }: Desk, topic: Topic, entry: Entry): Promise<void> {
  if (json) return outJson(screen, toMessage(topic, entry))
  // The line stays where it is while time goes on: "just now" would soon be wrong.
  const { createdAt } = entry
  return screen.out(messageText(entry, screen, screen.tty ? clock(createdAt, hub.clock.now()) : iso(createdAt)))
}

const explainGone =
  ({ name }: Topic) =>
  (error: unknown): never => {
    if (!(error instanceof HubError) || error.code !== 'TOPIC_NOT_FOUND') throw error
    throw new HubError('TOPIC_NOT_FOUND', `The topic ${JSON.stringify(name)} was deleted.`, { cause: error })
  }

function differences(old: Topic, now: Topic): string[] {
  const renamed = old.name === now.name ? [] : [`The topic is now called ${quoted(now.name)}.`]
  if (old.status === now.status) return renamed
  const reason = now.closeReason === undefined ? '' : `: ${harmlessLine(now.closeReason)}`
  return [...renamed, now.status === 'closed' ? `The topic was closed${reason}.` : 'The topic is open again.']
}
