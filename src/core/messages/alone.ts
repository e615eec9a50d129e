/** Messages that are all their units would write: on PostgreSQL those that come while others are stored go together, as one statement. */
import { isReserved } from '../../base/names.ts'
import { Unsure } from '../../db/faults.ts'
import { insertMailsAlone, type MailAlone } from '../../store/mailings.ts'
import type { Placed } from '../../store/sending.ts'
import type { Caller } from '../access/callers.ts'
import { type Agent, isNewcomer, mailChannel } from '../agents/agents.ts'
import { commit, itself } from '../hub/commit.ts'
import type { Hub } from '../hub/hub.ts'
import { memory } from '../hub/memory.ts'
import { findTerms } from './admission.ts'
import { compose, receiptOf } from './composing.ts'
import { threadChannel, threadChannels } from './placing.ts'
import type { Stored } from './receipt.ts'
import { type Addressee, guestsOf, type Recipient } from './recipients.ts'
import type { Dispatch } from './send.ts'

/** So many at a time: twice as many are no cheaper each, and hold the rows of their recipients for longer. */
const lettersPerGroup = 32
const mostRecipients = 64

/** One is on its way to the disk while the other is worked on. */
const groupsAtOnce = 2

interface Letter extends MailAlone {
  /** The rows that it locks. */
  readonly rows: readonly string[]
  readonly resolve: (placed: Placed | undefined) => void
  readonly reject: (error: unknown) => void
}

/** Undefined where it takes more than that, or is not let through at once: then the long way is asked. */
export async function sendAlone(
  hub: Hub,
  caller: Caller,
  uid: string,
  { sender, recipients, draft, enclosed }: Dispatch,
): Promise<{ sender: Agent; outcome: Stored } | undefined> {
  if (caller.readOnly || isNewcomer(sender)) return undefined
  const { clientId, thread: key, threadId, replyTo, conversation, links = [] } = draft
  if ((clientId ?? key ?? threadId ?? replyTo) !== undefined || links.length > 0) return undefined
  if (enclosed instanceof Error || (enclosed?.attachments.length ?? 0) > 0) return undefined
  if (conversation !== undefined && conversation.thread === undefined) return undefined
  if (recipients.length > mostRecipients || !recipients.every(isKnown)) return undefined
  const thread = conversation?.thread
  if (guestsOf(sender, recipients, thread?.project_id ?? sender.projectId).length > 0) return undefined
  const terms = findTerms(hub, { sender, recipients, exempt: isReserved(sender.name) })
  if (terms === undefined) return undefined

  const composed = compose(hub, { uid, sender, draft, enclosed, thread })
  const wakes = recipients.map(({ agent }) => mailChannel(agent.id))
  const placed = await letters(hub).post({
    ...composed,
    to: recipients.map(({ agent, kind }) => ({ id: agent.id, kind })),
    terms,
    telling: { actor: caller.key, projectId: sender.projectId, wakes, threads: threadChannels },
    rows: thread === undefined ? wakes : [...wakes, threadChannel(thread.id)],
  })
  return placed && { sender, outcome: receiptOf(composed, placed, { passed: recipients, blocked: [] }) }
}

const isKnown = (addressee: Addressee): addressee is Recipient => !isNewcomer(addressee.agent)

class Letters {
  readonly #hub: Hub
  #waiting: Letter[] = []
  #groups = 0
  /** The rows that groups on their way have locked: another group would wait for their commit, with all that it has locked itself. */
  readonly #locked = new Set<string>()

  constructor(hub: Hub) {
    this.#hub = hub
  }

  post(letter: Omit<Letter, 'resolve' | 'reject'>): Promise<Placed | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...letter, resolve, reject })
      this.#start()
    })
  }

  #start(): void {
    while (this.#groups < groupsAtOnce && this.#waiting.length > 0) {
      const group = this.#next()
      if (group.length === 0) return
      this.#groups++
      void this.#carry(group).finally(() => {
        this.#groups--
        for (const { rows } of group) for (const row of rows) this.#locked.delete(row)
        this.#start()
      })
    }
  }

  /** Those who came first, but for those whose rows are locked: they wait, and so do all who came later for the same rows. */
  #next(): Letter[] {
    const group: Letter[] = []
    const left: Letter[] = []
    const passedOver = new Set<string>()
    for (const letter of this.#waiting) {
      const { rows } = letter
      if (group.length < lettersPerGroup && !rows.some((row) => this.#locked.has(row) || passedOver.has(row)))
        group.push(letter)
      else {
        left.push(letter)
        for (const row of rows) passedOver.add(row)
      }
    }
    this.#waiting = left
    for (const { rows } of group) for (const row of rows) this.#locked.add(row)
    return group
  }

  async #carry(group: readonly Letter[]): Promise<void> {
    let started = false
    try {
      const placed = await commit(this.#hub, itself, async (tx, note) => {
        started = true
        const all = await insertMailsAlone(tx, group)
        for (const [n, one] of all.entries()) {
          const letter = group[n]
          if (one === undefined || letter === undefined) continue
          const { telling, mail } = letter
          const { threadId, messageId } = one
          const wakes = [...telling.wakes, threadChannel(threadId)]
          const { projectId, actor } = telling
          note(
            { kind: 'message.sent', projectId, agentId: mail.senderId, threadId, messageId, wakes, actor },
            'recorded',
          )
        }
        return all
      })
      for (const [n, { resolve }] of group.entries()) resolve(placed[n])
    } catch (error) {
      // Nothing of it is saved: each goes the long way, and fails alone if it has to.
      if (started && !(error instanceof Unsure)) for (const { resolve } of group) resolve(undefined)
      else for (const { reject } of group) reject(error)
      // They have waited for a connection as long: nobody waits for one twice.
      if (!started) for (const { reject } of this.#waiting.splice(0)) reject(error)
    }
  }
}

const letters = memory((hub) => new Letters(hub))
