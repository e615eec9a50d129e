/** The bridge to OpenClaw: brings each unread message to the gateway once, and each answer back. */
import type { Clock } from '../../../base/clock.ts'
import type { Ids } from '../../../base/ids.ts'
import type { Log } from '../../../base/log.ts'
import type { UnreadMessage } from '../answers.ts'
import { Backoff } from '../backoff.ts'
import type { Errands } from '../errands.ts'
import { Recent } from '../recent.ts'
import type { Server } from '../server.ts'
import { type Gateway, GatewayFailure } from './gateway.ts'
import { bridgedText, inParts, isWaitingText, type ReplyMode, waitingText } from './letters.ts'

export interface BridgeParts {
  readonly server: Server
  readonly gateway: Gateway
  readonly errands: Errands
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly mode: ReplyMode
  /** The session of the host for those that were brought to none yet. */
  readonly sessionKey: string
  readonly maxTurns: number
}

/** Without any event: the claim of a client that died has lapsed, or a person has written for this agent. */
const lookMs = 60_000

/** Sessions that the gateway is given messages of at the same time. */
const mostAtOnce = 8

/** The longest until it is asked again whether another client is done with a message: at first a second, as most are. */
const soonMs = 5000

/** Well before a claim lapses, which it does after two minutes. */
const renewMs = 60_000

/**
 *   unread ── claim ──▶ claimed ── the gateway accepts ──▶ read ── inline: answer ──▶ sent
 *     ▲                    │
 *     └── back-off ◀───────┘ the gateway is away or refuses: the message stays unread
 *
 * Events and timers only make it look; what is unread at the server is the truth. So a bridge that starts, or whose socket
 * was closed, catches up by the same way.
 */
export class Bridge {
  readonly #parts: BridgeParts
  readonly #backoff: { readonly server: Backoff; readonly gateway: Backoff; readonly claim: Backoff }
  /** The sessions that are worked at, or about to be. One does not wait for the slow turn of another. */
  readonly #busy = new Set<string>()
  readonly #queue: { session: string; messages: readonly UnreadMessage[] }[] = []
  #working = 0
  /** Those of them that a look has found unread messages in: once they are free, it looks again. */
  readonly #passed = new Set<string>()
  /** Brought to the gateway by this process: an event that comes twice, or a mark that is late, brings nothing twice. */
  readonly #done = new Recent()
  /** The messages of which was said that they wait for a person. */
  readonly #waiting = new Recent()
  readonly #end = new AbortController()
  /** Until then the gateway is left alone. */
  #notBefore = 0
  #looking: Promise<void> | undefined
  #again = false
  #cancel = () => {}
  #told = false

  constructor(parts: BridgeParts) {
    this.#parts = parts
    this.#backoff = { server: new Backoff(parts.ids), gateway: new Backoff(parts.ids), claim: new Backoff(parts.ids) }
    this.look()
  }

  /** Something may have come. */
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
      if (this.#done.has(message.message_id)) continue
      if (this.#busy.has(message.session_id)) {
        this.#passed.add(message.session_id)
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
    while (this.#working < mostAtOnce) {
      const next = this.#queue.shift()
      if (next === undefined) return
      this.#working++
      // A message that the gateway takes just now is marked before this process ends.
      void this.#parts.errands
        .hold(this.#bring(next.messages))
        .catch((error: unknown) => this.#explain(error))
        .finally(() => {
          this.#working--
          this.#busy.delete(next.session)
          if (this.#passed.delete(next.session)) this.look()
          this.#work()
        })
    }
  }

  /** The messages of one session in their order; none overtakes one that could not be brought. */
  async #bring(messages: readonly UnreadMessage[]): Promise<void> {
    try {
      for (const message of messages) if (!(await this.#bringOne(message))) return
      this.#told = false
    } catch (error) {
      const now = this.#parts.clock.monotonic()
      // Of several sessions that fail at once, one is counted.
      if (this.#notBefore <= now) this.#notBefore = now + this.#backoff.gateway.next()
      this.#later(lookMs)
      this.#explain(error)
    }
  }

  /** False if those behind it have to wait: for another client, or for a person. */
  async #bringOne(message: UnreadMessage): Promise<boolean> {
    const { server, mode, maxTurns } = this.#parts
    if (this.#end.signal.aborted) return false
    const claim = await server.claim(message.message_id)
    if (claim === undefined) {
      // Another client has it. Those behind it must not overtake it.
      this.#later(Math.min(this.#backoff.claim.next(), soonMs))
      return false
    }
    this.#backoff.claim.reset()
    if (isWaitingText(message)) this.#read(message)
    else if (mode === 'inline' && claim.automatic_turns >= maxTurns) {
      await this.#sayThatItWaits(message)
      return false
    } else await this.#handOver(message, claim.session_key ?? undefined)
    return true
  }

  async #handOver(message: UnreadMessage, kept: string | undefined): Promise<void> {
    const { server, errands, sessionKey } = this.#parts
    const known = kept ?? sessionKey
    const used = await this.#toSession(known, message).catch((error: unknown) => {
      // A session that was removed at the host: the usual one takes its place.
      if (error instanceof GatewayFailure && error.sessionGone && known !== sessionKey)
        return this.#toSession(sessionKey, message)
      throw error
    })
    this.#backoff.gateway.reset()
    this.#read(message)
    if (used.key !== kept)
      void errands.run('keeping the session', () => server.keepSessionKey(message.session_id, used.key))
    if (used.answer !== undefined) await this.#sendBack(message, used.answer)
  }

  async #toSession(key: string, message: UnreadMessage): Promise<{ key: string; answer: string | undefined }> {
    const { gateway, mode } = this.#parts
    const handover = { sessionKey: key, text: bridgedText(message, mode), messageId: message.message_id }
    if (mode === 'tool') {
      await gateway.hand(handover)
      return { key, answer: undefined }
    }
    const stop = this.#keepClaim(message.message_id)
    return { key, answer: await gateway.ask(handover, this.#end.signal).finally(stop) }
  }

  /** A turn of the agent may take longer than a claim lasts. */
  #keepClaim(messageId: string): () => void {
    const { clock, server } = this.#parts
    let cancel = () => {}
    const renew = () => {
      cancel = clock.after(renewMs, () => {
        void server.claim(messageId).catch(() => undefined)
        renew()
      })
    }
    renew()
    return () => cancel()
  }

  #read({ message_id }: UnreadMessage): void {
    this.#done.add(message_id)
    void this.#parts.errands.run('marking as read', () => this.#parts.server.markRead(message_id))
  }

  /** Each part has an id of its own: however often it is sent, it is stored once. */
  async #sendBack({ message_id, session_id, from_agent: to }: UnreadMessage, answer: string): Promise<void> {
    const { server, errands } = this.#parts
    for (const [index, content] of inParts(answer).entries()) {
      const draft = { to, session_id, content, automatic: true, client_message_id: `answer-${message_id}-${index}` }
      if (!(await errands.run('the answer', () => server.send(draft)))) return
    }
  }

  /** Said once, whichever of several clients says it, and however often: its id is made from that of the message it holds. */
  async #sayThatItWaits({ message_id, session_id, from_agent: to }: UnreadMessage): Promise<void> {
    const { server, log, maxTurns } = this.#parts
    if (this.#waiting.has(message_id)) return
    const client_message_id = `waits-${message_id}`
    await server.send({ to, session_id, content: waitingText(maxTurns), automatic: true, client_message_id })
    this.#waiting.add(message_id)
    log.info({ session: session_id }, 'the bridge waits for a person')
  }

  /** Once until something gets through again. */
  #explain(error: unknown): void {
    const { log } = this.#parts
    const level = this.#told || this.#end.signal.aborted ? 'debug' : 'warn'
    this.#told = true
    if (error instanceof GatewayFailure) log[level](`The OpenClaw gateway ${error.message}. The message stays unread.`)
    else log[level]({ err: error }, 'a message could not be brought to the OpenClaw gateway; it stays unread')
  }
}
