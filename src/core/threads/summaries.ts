/** Summaries of threads: drawn from the messages themselves, and refined by a language model where there is one. */
import { asHubError, type HubError } from '../../base/errors.ts'
import { LlmFailure } from '../../llm/llm.ts'
import { instructions, type Prompt, parseRefined, type Refined, threadsPrompt } from '../../summaries/prompt.ts'
import type { Participant, Summary } from '../../summaries/summary.ts'
import type { Caller } from '../access/callers.ts'
import type { Hub } from '../hub/hub.ts'
import { type Example, type SummarisedThread, summariseThread } from './summary-sources.ts'

/** Whether a language model had a part in it and, if it should have, why not. */
interface Refinement {
  readonly used: boolean
  readonly reason?: string | undefined
}

interface Told {
  /** The subject of the thread, in the words of the model. */
  readonly overview?: string | undefined
  /** Absent if none was asked. */
  readonly llm?: Refinement | undefined
}

export interface ThreadSummary extends Summary, Told {
  readonly key: string
  readonly examples: readonly Example[]
}

export interface Refining {
  /** Whether to ask the language model: `asked` wants to know if there is none. */
  readonly refine: boolean | 'asked'
  readonly model?: string | undefined
  /** When nobody waits for the model any more. */
  readonly signal?: AbortSignal | undefined
}

/** How many messages of a thread are read: the first, and the newest. */
export const readLimits = { one: 1000, usual: 50, most: 500 } as const

interface SummaryWish extends Refining {
  readonly project: string
  readonly key: string
}

export async function summarizeThread(
  hub: Hub,
  caller: Caller,
  { project, key, ...wish }: SummaryWish,
): Promise<ThreadSummary> {
  const { summary, examples, prompt } = await summariseThread(hub, caller, { project, key, limit: readLimits.one })
  const { refined, llm } = await refine(hub, prompt, wish)
  return { key, ...summary, ...refined, examples, llm }
}

/** One summary of several threads. Items begin with the name of their thread. */
interface Aggregate extends Told {
  readonly threads: number
  readonly totalMessages: number
  readonly messagesRead: number
  readonly participants: readonly Participant[]
  readonly keyPoints: readonly string[]
  readonly decisions: readonly string[]
  readonly actionItems: readonly string[]
  readonly openQuestions: readonly string[]
}

export interface ManySummaries {
  readonly threads: readonly (SummarisedThread | { readonly key: string; readonly error: HubError })[]
  readonly aggregate: Aggregate
}

interface ManyWish extends Refining {
  readonly project: string
  readonly keys: readonly string[]
  readonly limit: number
}

/** One question to the model for all threads: it refines their common summary only. */
export async function summarizeThreads(
  hub: Hub,
  caller: Caller,
  { project, keys, limit, ...wish }: ManyWish,
): Promise<ManySummaries> {
  const threads: (SummarisedThread | { key: string; error: HubError })[] = []
  for (const key of new Set(keys)) threads.push(await summaryOrError(hub, caller, { project, key, limit }))
  const found = threads.filter((thread) => 'summary' in thread)
  const { refined, llm } = found.length === 0 ? {} : await refine(hub, threadsPrompt(found), wish)
  return { threads, aggregate: { ...aggregate(found), ...refined, llm } }
}

async function summaryOrError(hub: Hub, caller: Caller, wish: { project: string; key: string; limit: number }) {
  try {
    return await summariseThread(hub, caller, wish)
  } catch (cause) {
    const error = asHubError(cause)
    if (error.code !== 'THREAD_NOT_FOUND') throw cause
    return { key: wish.key, error }
  }
}

const most = { items: 30, participants: 10 } as const

function aggregate(threads: readonly SummarisedThread[]): Aggregate {
  const written = new Map<string, number>()
  // Agents that only received messages come last.
  for (const { writers, summary } of threads)
    for (const { name, messages } of [...writers, ...summary.participants.filter((one) => one.messages === 0)])
      written.set(name, (written.get(name) ?? 0) + messages)
  const all = (list: 'keyPoints' | 'decisions' | 'actionItems' | 'openQuestions', share: number) =>
    threads
      .flatMap(({ key, summary }) => summary[list].slice(-share).map((item) => `[${key}] ${item}`))
      .slice(0, most.items)
  const share = Math.max(1, Math.ceil(most.items / Math.max(1, threads.length)))
  return {
    threads: threads.length,
    totalMessages: threads.reduce((sum, { summary }) => sum + summary.totalMessages, 0),
    messagesRead: threads.reduce((sum, { summary }) => sum + summary.messagesRead, 0),
    participants: [...written]
      .map(([name, messages]) => ({ name, messages }))
      .sort((a, b) => b.messages - a.messages)
      .slice(0, most.participants),
    keyPoints: all('keyPoints', Math.min(3, share)),
    decisions: all('decisions', share),
    actionItems: all('actionItems', share),
    openQuestions: all('openQuestions', share),
  }
}

const noModel: Refinement = {
  used: false,
  reason: 'No language model is set up: the operator names one in LLM_BASE_URL and LLM_DEFAULT_MODEL.',
}

/** A model that fails costs nothing but its part; the summary says why in a few words. */
async function refine(
  hub: Hub,
  { text: prompt, boundary }: Prompt,
  { refine, model, signal }: Refining,
): Promise<{ refined?: Refined; llm?: Refinement }> {
  if (!refine) return {}
  if (hub.llm === undefined) return refine === 'asked' ? { llm: noModel } : {}
  try {
    const usable = (text: string) => parseRefined(text) !== undefined
    const refined = parseRefined(
      await hub.llm.complete({ system: instructions, prompt, boundary, model, signal, usable }),
    )
    if (refined === undefined) throw new LlmFailure('did not answer with the JSON it was asked for')
    return { refined, llm: { used: true } }
  } catch (error) {
    const reason = `The language model ${error instanceof LlmFailure ? error.message : 'failed'}.`
    hub.log.warn({ reason }, 'a summary was not refined')
    return { llm: { used: false, reason } }
  }
}
