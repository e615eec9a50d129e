/** Messages that are all their units would write: on PostgreSQL those that come while others are stored go together, as one statement. */
import { isReserved } from '../../base/names.ts'
import { Unsure } from '../../db/faults.ts'
import type { Tx } from '../../db/port.ts'
import { insertMailsAlone, type MailAlone } from '../../store/mailings.ts'
import type { Placed } from '../../store/sending.ts'
import type { Caller } from '../access/callers.ts'
import { type Agent, isNewcomer, mailChannel } from '../agents/agents.ts'
import { commit, itself, type Note } from '../hub/commit.ts'
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
}

interface Waiting {
  readonly letter: Letter
  readonly resolve: (placed: Placed | undefined) => void
  readonly reject: (error: unknown) => void
}

/** `atLength`: the way of a message that takes more than this, or is not let through at once. */
export async function sendAlone<Sent>(
  hub: Hub,
  { caller, uid, what }: { caller: Caller; uid: string; what: Dispatch },
  atLength: () => Promise<Sent>,
): Promise<Sent | { sender: Agent; outcome: Stored }> {
  const written = write(hub, caller, uid, what)
  const letters = lettersOf(hub)
  if (written === undefined || letters.isStuck(written.letter)) return atLength()
  const { letter, composed, sender, recipients } = written
  const placed = await letters.post(letter)
  if (placed !== undefined) return { sender, outcome: receiptOf(composed, placed, { passed: recipients, blocked: [] }) }
  try {
    return await atLength()
  } finally {
    letters.forget(letter)
  }
}

/** Undefined where the message is not all that has to be written. */
function write(hub: Hub, caller: Caller, uid: string, { sender, recipients, draft, enclosed }: Dispatch) {
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
  const letter: Letter = {
    ...composed,
    to: recipients.map(({ agent, kind }) => ({ id: agent.id, kind })),
    terms,
    telling: { actor: caller.key, projectId: sender.projectId, wakes, threads: threadChannels },
    rows: thread === undefined ? wakes : [...wakes, threadChannel(thread.id)],
  }
  return { letter, composed, sender, recipients }
}

const isKnown = (addressee: Addressee): addressee is Recipient => !isNewcomer(addressee.agent)

class Letters {
  readonly #hub: Hub
  #waiting: Waiting[] = []
  #groups = 0
  /** The rows that groups on their way have locked: another group would wait for their commit, with all that it has locked itself. */
  readonly #locked = new Set<string>()

  /** Letters of groups that failed, until they have come to their end by themselves. */
  readonly #stuck = new Set<Letter>()

  constructor(hub: Hub) {
    this.#hub = hub
  }

  /** Undefined if it was not let through at once. */
  post(letter: Letter): Promise<Placed | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ letter, resolve, reject })
      this.#start()
    })
  }

  /** Whether one for the same rows failed, and has not come to its end yet: a row that others hold for long would fail every group. */
  isStuck({ rows }: Letter): boolean {
    for (const stuck of this.#stuck) if (stuck.rows.some((row) => rows.includes(row))) return true
    return false
  }

  forget(letter: Letter): void {
    this.#stuck.delete(letter)
  }

  #start(): void {
    while (this.#groups < groupsAtOnce && this.#waiting.length > 0) {
      const group = this.#next()
      if (group.length === 0) return
      this.#groups++
      void this.#carry(group).finally(() => {
        this.#groups--
        for (const { letter } of group) for (const row of letter.rows) this.#locked.delete(row)
        this.#start()
      })
    }
  }

  /** Those who came first, but for those whose rows are locked: they wait, and so do all who came later for the same rows. */
  #next(): Waiting[] {
    const group: Waiting[] = []
    const left: Waiting[] = []
    const passedOver = new Set<string>()
    for (const one of this.#waiting) {
      const { rows } = one.letter
      if (group.length < lettersPerGroup && !rows.some((row) => this.#locked.has(row) || passedOver.has(row)))
        group.push(one)
      else {
        left.push(one)
        for (const row of rows) passedOver.add(row)
      }
    }
    this.#waiting = left
    for (const { letter } of group) for (const row of letter.rows) this.#locked.add(row)
    return group
  }

  async #carry(group: readonly Waiting[]): Promise<void> {
    const letters = group.map(({ letter }) => letter)
    let started = false
    try {
      const placed = await commit(this.#hub, itself, (tx, note) => {
        started = true
        return store(tx, note, letters)
      })
      for (const [n, { resolve }] of group.entries()) resolve(placed[n])
    } catch (error) {
      // Nothing of it is saved: each goes on by itself, and fails alone if it has to.
      const goesOn = started && !(error instanceof Unsure)
      for (const { letter, resolve, reject } of group) {
        if (goesOn) this.#stuck.add(letter)
        if (goesOn) resolve(undefined)
        else reject(error)
      }
      // They have waited for a connection as long: nobody waits for one twice.
      if (!started) for (const { reject } of this.#waiting.splice(0)) reject(error)
    }
  }
}

async function store(tx: Tx, note: Note, letters: readonly Letter[]): Promise<(Placed | undefined)[]> {
  const all = await insertMailsAlone(tx, letters)
  for (const [n, { telling, mail }] of letters.entries()) {
    const placed = all[n]
    if (placed === undefined) continue
    const { threadId, messageId } = placed
    const { projectId, wakes } = telling
    const change = { kind: 'message.sent', projectId, agentId: mail.senderId, threadId, messageId } as const
    note({ ...change, wakes: [...wakes, threadChannel(threadId)] }, 'recorded')
  }
  return all
}

const lettersOf = memory((hub) => new Letters(hub))
