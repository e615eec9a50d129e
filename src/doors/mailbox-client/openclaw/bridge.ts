/** The bridge to OpenClaw: hands each unread message to the gateway once, and sends each answer back. */
import type { Clock } from '../../../base/clock.ts'
import type { Ids } from '../../../base/ids.ts'
import type { Log } from '../../../base/log.ts'
import type { UnreadMessage } from '../../words/post.ts'
import { Backoff } from '../backoff.ts'
import { Recent } from '../recent.ts'
import type { Retries } from '../retries.ts'
import type { Server } from '../server.ts'
import { bridgedText, inParts, isWaitingText, type ReplyMode, waitingText } from './bridge-texts.ts'
import { type Gateway, GatewayFailure } from './gateway.ts'

export interface BridgeParts {
  readonly server: Server
  readonly gateway: Gateway
  readonly retries: Retries
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly mode: ReplyMode
  /** The host's session for conversations that have none yet. */
  readonly sessionKey: string
  readonly maxTurns: number
}

/** Between two looks without an event: the claim of a dead client may have lapsed. */
const lookMs = 60_000
const maxSessionsAtOnce = 8
/** A claim lapses after two minutes. */
const renewMs = 60_000
/** Its claims count as announcements: a message that a hook or a waiter of the agent told of is not handed over as well. */
const route = 'openclaw'

/**
 *   unread ── claim ──▶ claimed ── the gateway accepts ──▶ read ── inline: answer ──▶ sent
 *     ▲                    │
 *     └── back-off ◀───────┘ the gateway is away or refuses: the message stays unread
 *
 * Events and timers only lead to a look; the server's list of unread messages is the truth. A bridge that starts, or whose
 * socket was closed, therefore needs no other way to catch up.
 */
export class Bridge {
  readonly #parts: BridgeParts
  readonly #backoff: { readonly server: Backoff; readonly gateway: Backoff; readonly claim: Backoff }
  /** Sessions that are queued or being handled. One does not wait for the slow turn of another. */
  readonly #busy = new Set<string>()
  readonly #queue: { session: string; messages: readonly UnreadMessage[] }[] = []
  #working = 0
  /** Busy sessions with more unread messages: looked at again when they are free. */
  readonly #skipped = new Set<string>()
  /** Messages that the gateway has taken: a repeated event, or a late receipt, hands over nothing twice. */
  readonly #handedOver = new Recent()
  /** Messages whose sender was told that they wait for a person. */
  readonly #announced = new Recent()
  readonly #end = new AbortController()
  /** The gateway's back-off ends then. */
  #notBefore = 0
  #looking: Promise<void> | undefined
  #again = false
  #cancel = () => {}
  #warned = false

  constructor(parts: BridgeParts) {
    this.#parts = parts
    this.#backoff = { server: new Backoff(parts.ids), gateway: new Backoff(parts.ids), claim: new Backoff(parts.ids) }
    this.look()
  }

  /** There may be new messages. */
  look(): void {
    if (this.#end.signal.aborted) return
    if (this.#looking !== undefined) {
      this.#again = true
      return
    }
    const wait = this.#notBefore - this.#parts.clock.monotonic()
    if (wait > 0) {
      this.#later(wait)
      return
    }
    this.#again = false
    this.#looking = this.#start()
      .then(() => {
        this.#backoff.server.reset()
        this.#later(lookMs)
      })
      .catch((error: unknown) => {
        this.#parts.log.debug({ err: error }, 'the bridge could not look for messages')
        this.#later(this.#backoff.server.next())
      })
      .finally(() => {
        this.#looking = undefined
        if (this.#again) this.look()
      })
  }

  close(): void {
    this.#end.abort()
    this.#cancel()
  }

  #later(ms: number): void {
    this.#cancel()
    if (this.#end.signal.aborted) return
    const wait = this.#notBefore - this.#parts.clock.monotonic()
    this.#cancel = this.#parts.clock.after(wait > 0 ? Math.min(ms, wait) : ms, () => this.look())
  }

  async #start(): Promise<void> {
    const sessions = new Map<string, UnreadMessage[]>()
    for await (const message of this.#parts.server.unread()) {
      if (this.#handedOver.has(message.message_id)) continue
      if (this.#busy.has(message.session_id)) {
        this.#skipped.add(message.session_id)
        continue
      }
      const messages = sessions.get(message.session_id) ?? []
      sessions.set(message.session_id, [...messages, message])
    }
    for (const [session, messages] of sessions) {
      this.#busy.add(session)
      this.#queue.push({ session, messages })
    }
    this.#work()
  }

  #work(): void {
    while (this.#working < maxSessionsAtOnce) {
      const next = this.#queue.shift()
      if (next === undefined) return
      this.#working++
      // Held: a message that the gateway has just taken is marked as read before this process ends.
      void this.#parts.retries
        .hold(this.#deliver(next.messages))
        .catch((error: unknown) => this.#explain(error))
        .finally(() => {
          this.#working--
          this.#busy.delete(next.session)
          if (this.#skipped.delete(next.session)) this.look()
          this.#work()
        })
    }
  }

  /** The messages of one session, in order: none overtakes one that failed. */
  async #deliver(messages: readonly UnreadMessage[]): Promise<void> {
    try {
      for (const message of messages) if (!(await this.#deliverOne(message))) return
      this.#warned = false
    } catch (error) {
      const now = this.#parts.clock.monotonic()
      // Several sessions that fail at once count as one failure.
      if (this.#notBefore <= now) this.#notBefore = now + this.#backoff.gateway.next()
      this.#later(lookMs)
      this.#explain(error)
    }
  }

  /** False if the messages behind it have to wait: for another client, or for a person. */
  async #deliverOne(message: UnreadMessage): Promise<boolean> {
    const { server, mode, maxTurns } = this.#parts
    if (this.#end.signal.aborted) return false
    const claim = await server.claim(message.message_id, route)
    if (claim === undefined) {
      // Another client has it, or its agent was told of it, and the messages behind it must not overtake it.
      this.#later(this.#backoff.claim.next())
      return false
    }
    this.#backoff.claim.reset()
    if (isWaitingText(message)) this.#read(message)
    else if (mode === 'inline' && claim.automatic_turns >= maxTurns) {
      await this.#announceWait(message)
      return false
    } else await this.#handOver(message, claim.session_key ?? undefined)
    return true
  }

  async #handOver(message: UnreadMessage, kept: string | undefined): Promise<void> {
    const { server, retries, sessionKey } = this.#parts
    const known = kept ?? sessionKey
    const used = await this.#toSession(known, message).catch((error: unknown) => {
      // The session was removed at the host: use the default one.
      if (error instanceof GatewayFailure && error.sessionGone && known !== sessionKey)
        return this.#toSession(sessionKey, message)
      throw error
    })
    this.#backoff.gateway.reset()
    this.#read(message)
    if (used.key !== kept)
      void retries.run('keeping the session', () => server.keepSessionKey(message.session_id, used.key))
    if (used.answer !== undefined) await this.#sendBack(message, used.answer)
  }

  async #toSession(key: string, message: UnreadMessage): Promise<{ key: string; answer: string | undefined }> {
    const { gateway, mode } = this.#parts
    const handover = { sessionKey: key, text: bridgedText(message, mode), messageId: message.message_id }
    if (mode === 'tool') {
      await gateway.hand(handover)
      return { key, answer: undefined }
    }
    const stop = this.#renewClaim(message.message_id)
    return { key, answer: await gateway.ask(handover, this.#end.signal).finally(stop) }
  }

  /** A turn of the agent may take longer than a claim lasts. */
  #renewClaim(messageId: string): () => void {
    const { clock, server } = this.#parts
    let cancel = () => {}
    const renew = () => {
      cancel = clock.after(renewMs, () => {
        void server.claim(messageId, route).catch(() => undefined)
        renew()
      })
    }
    renew()
    return () => cancel()
  }

  #read({ message_id }: UnreadMessage): void {
    this.#handedOver.add(message_id)
    void this.#parts.retries.run('marking as read', () => this.#parts.server.markRead(message_id))
  }

  /** Each part has its own client_message_id: it is stored once, however often it is sent. */
  async #sendBack({ message_id, session_id, from_agent: to }: UnreadMessage, answer: string): Promise<void> {
    const { server, retries } = this.#parts
    for (const [index, content] of inParts(answer).entries()) {
      const draft = { to, session_id, content, automatic: true, client_message_id: `answer-${message_id}-${index}` }
      if (!(await retries.run('the answer', () => server.send(draft)))) return
    }
  }

  /** Stored once, whichever of several clients sends it: its id is made from the id of the message that waits. */
  async #announceWait({ message_id, session_id, from_agent: to }: UnreadMessage): Promise<void> {
    const { server, log, maxTurns } = this.#parts
    if (this.#announced.has(message_id)) return
    const client_message_id = `waits-${message_id}`
    await server.send({ to, session_id, content: waitingText(maxTurns), automatic: true, client_message_id })
    this.#announced.add(message_id)
    log.info({ session: session_id }, 'the bridge waits for a person')
  }

  /** Warns once until a message gets through again. */
  #explain(error: unknown): void {
    const { log } = this.#parts
    const level = this.#warned || this.#end.signal.aborted ? 'debug' : 'warn'
    this.#warned = true
    if (error instanceof GatewayFailure) log[level](`The OpenClaw gateway ${error.message}. The message stays unread.`)
    else log[level]({ err: error }, 'a message could not be handed to the OpenClaw gateway; it stays unread')
  }
}
