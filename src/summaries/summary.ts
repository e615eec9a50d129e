/** The summary of a thread from its messages alone: collected one by one, and short however many there are. */

import { wordsOf } from '../fulltext/words.ts'
import { cut, itemLength, plain, readLength, readMarkdown } from './lines.ts'

export interface Told {
  readonly id: number
  readonly from: string
  /** Its open recipients. */
  readonly to: readonly string[]
  readonly subject: string
  readonly body: string
  readonly createdAt: number
  /** The id of the message that it answers. */
  readonly replyTo?: number | undefined
}

export interface Participant {
  readonly name: string
  readonly messages: number
}

/** Items begin with the name of their writer. */
export interface Summary {
  readonly subject: string
  /** The busiest writer first; agents that were only written to come last. */
  readonly participants: readonly Participant[]
  readonly totalMessages: number
  /** Of how many of them all but the participants is drawn. */
  readonly messagesRead: number
  readonly keyPoints: readonly string[]
  readonly openQuestions: readonly string[]
  readonly actionItems: readonly string[]
  readonly decisions: readonly string[]
  readonly codeReferences: readonly string[]
  readonly lastAt: number
}

export const summaryLimits = { items: 10, codeReferences: 20, participants: 20 } as const

/** No more items of a kind are kept of a thread: the oldest goes first. */
const mostKept = 100
/** The points that one message may make, and the first ones of a thread, which always stay. */
const pointsOfOne = 2
const openingPoints = 3

interface Item {
  readonly id: number
  readonly from: string
  readonly text: string
}

interface Question extends Item {
  readonly words: ReadonlySet<string>
}

interface SummaryBuilder {
  add(message: Told): void
  /** `writers` have written all messages of the thread; those that were read, if left out. */
  finish(writers?: readonly Participant[]): Summary
}

export function startSummary(): SummaryBuilder {
  const written = new Map<string, number>()
  const points: Item[] = []
  const decisions = new Map<string, Item>()
  const actions = new Map<string, Item>()
  const code = new Map<string, number>()
  let questions: Question[] = []
  let [subject, count, lastAt] = ['', 0, 0]

  return {
    add(message) {
      const { id, from } = message
      if (count++ === 0) subject = cut(plain(message.subject.slice(0, 4 * itemLength)), itemLength)
      lastAt = message.createdAt
      for (const name of message.to) if (!written.has(name)) written.set(name, 0)
      written.set(from, (written.get(from) ?? 0) + 1)
      questions = stillOpen(questions, message)
      const reading = readMarkdown(message.body)
      for (const text of reading.questions) questions.push({ id, from, text, words: longWords(text) })
      questions = questions.slice(-mostKept)
      for (const text of reading.decisions) keep(decisions, { id, from, text })
      for (const text of reading.actions) keep(actions, { id, from, text })
      for (const text of reading.done) actions.delete(sameness(text))
      for (const text of reading.code) tally(code, text)
      const telling = reading.points.filter(isTelling).slice(0, pointsOfOne)
      for (const text of telling) points.push({ id, from, text })
      if (points.length > mostKept) points.splice(openingPoints, 1 + points.length - mostKept)
    },
    finish(writers) {
      for (const { name, messages } of writers ?? []) written.set(name, messages)
      const participants = [...written]
        .map(([name, messages]) => ({ name, messages }))
        .sort((a, b) => b.messages - a.messages)
      return {
        subject,
        participants: participants.slice(0, summaryLimits.participants),
        totalMessages: participants.reduce((sum, { messages }) => sum + messages, 0),
        messagesRead: count,
        keyPoints: ends(points).map(line),
        openQuestions: questions.slice(-summaryLimits.items).map(line),
        actionItems: [...actions.values()].slice(-summaryLimits.items).map(line),
        decisions: [...decisions.values()].slice(-summaryLimits.items).map(line),
        codeReferences: [...code]
          .sort(([, a], [, b]) => b - a)
          .slice(0, summaryLimits.codeReferences)
          .map(([text]) => text),
        lastAt,
      }
    },
  }
}

const line = ({ from, text }: Item): string => `${from}: ${text}`

/** The first and the last points of a thread. */
const ends = (points: readonly Item[]): readonly Item[] =>
  points.length <= summaryLimits.items
    ? points
    : [...points.slice(0, openingPoints), ...points.slice(openingPoints - summaryLimits.items)]

/** The same words are the same thing, said again: the later place counts. */
function keep(items: Map<string, Item>, item: Item): void {
  const key = sameness(item.text)
  items.delete(key)
  items.set(key, item)
  const [oldest] = items.keys()
  if (items.size > mostKept && oldest !== undefined) items.delete(oldest)
}

const sameness = (text: string): string => wordsOf(text).join(' ')

function tally(code: Map<string, number>, text: string): void {
  if (code.has(text) || code.size < 10 * mostKept) code.set(text, (code.get(text) ?? 0) + 1)
}

const longWords = (text: string): ReadonlySet<string> => new Set(wordsOf(text).filter((word) => word.length > 3))

/** Somebody else answers the message itself, or takes up most words of the question. */
function stillOpen(questions: readonly Question[], { from, replyTo, body }: Told): Question[] {
  const asked = questions.some((question) => question.from !== from)
  const said = asked ? longWords(body.slice(0, readLength)) : new Set()
  return questions.filter((question) => {
    if (question.from === from) return true
    if (question.id === replyTo) return false
    const shared = [...question.words].filter((word) => said.has(word)).length
    return shared < 2 || shared / question.words.size < 0.6
  })
}

const pleasantry =
  /^(?:hi|hello|hey|thanks|thank you|ok(?:ay)?|sure|great|cool|ack|lgtm|sounds good|good (?:morning|day))\b/i

function isTelling(text: string): boolean {
  return text.length >= 15 && wordsOf(text).length >= 3 && !(pleasantry.test(text) && text.length < itemLength / 4)
}
