/** The mail door's words for summaries. */
import { z } from 'zod'
import { errorShape } from '../../base/errors.ts'
import type { ManySummaries, ThreadSummary } from '../../core/threads/summaries.ts'
import type { Summary } from '../../summaries/summary.ts'
import { iso } from '../words/times.ts'

const record = z.record(z.string(), z.unknown())

export const summaryShape = z.object({ thread_id: z.string(), summary: record, examples: z.array(record) })

export const manyShape = z.object({ threads: z.array(record), aggregate: record })

/** Models call `summarize_thread` to save tokens: an empty field takes none. */
const given = (fields: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

const items = ({
  keyPoints,
  decisions,
  actionItems,
  openQuestions,
}: Pick<Summary, 'keyPoints' | 'decisions' | 'actionItems' | 'openQuestions'>) => ({
  key_points: keyPoints,
  decisions,
  action_items: actionItems,
  open_questions: openQuestions,
})

const told = (summary: Summary & Pick<ThreadSummary, 'overview' | 'llm'>) =>
  given({
    subject: summary.subject,
    overview: summary.overview,
    participants: summary.participants.map(({ name }) => name),
    total_messages: summary.totalMessages,
    messages_read: summary.messagesRead,
    ...items(summary),
    code_references: summary.codeReferences,
    last_activity_ts: iso(summary.lastAt),
    llm: summary.llm,
  })

export function toSummary(thread: ThreadSummary, withExamples: boolean): z.output<typeof summaryShape> {
  const examples = withExamples ? thread.examples : []
  return {
    thread_id: thread.key,
    summary: told(thread),
    examples: examples.map(({ id, from, subject, createdAt, text }) => ({
      id,
      from,
      subject,
      created_ts: iso(createdAt),
      body_md: text,
    })),
  }
}

/** A thread that nobody has written to yet. */
export const toNothingSaid = (key: string): z.output<typeof summaryShape> => ({
  thread_id: key,
  summary: {
    participants: [],
    total_messages: 0,
    messages_read: 0,
    ...items({ keyPoints: [], decisions: [], actionItems: [], openQuestions: [] }),
    code_references: [],
  },
  examples: [],
})

export function toMany({ threads, aggregate }: ManySummaries): z.output<typeof manyShape> {
  return {
    threads: threads.map((thread) =>
      'error' in thread
        ? { thread_id: thread.key, ...errorShape(thread.error) }
        : { thread_id: thread.key, summary: told(thread.summary) },
    ),
    aggregate: given({
      overview: aggregate.overview,
      threads: aggregate.threads,
      total_messages: aggregate.totalMessages,
      messages_read: aggregate.messagesRead,
      top_participants: aggregate.participants,
      ...items(aggregate),
      llm: aggregate.llm,
    }),
  }
}
