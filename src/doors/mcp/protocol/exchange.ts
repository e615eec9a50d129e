/** One request waiting for its answer, whatever wire it came by; also the context its tool runs in. */
import type { RequestId } from '@modelcontextprotocol/server'
import { afterTurns, pause } from '../../../base/clock.ts'
import { HubError } from '../../../base/errors.ts'
import type { Outcome } from '../../../base/metrics.ts'
import type { Caller } from '../../../core/access/callers.ts'
import type { Self } from '../../../core/agents/connection.ts'
import type { CallContext, Dialogue } from '../table.ts'
import type { Conversation } from './conversation.ts'
import type { Ability } from './dialogue.ts'
import type { Engine } from './engine.ts'
import type { SessionUpdates } from './updates.ts'

export interface ClientInfo {
  readonly name: string
  readonly version: string
  /** The kinds of questions it takes, if it said so once and for all. */
  readonly can?: readonly Ability[] | undefined
}

/** The client of an exchange: the same for all of its exchanges. */
export interface Peer<Scope> {
  readonly caller: Caller
  readonly scope: Scope
  readonly client: ClientInfo | undefined
  readonly session?: string | undefined
  /** Where running calls can be cancelled; absent for clients that keep no session. */
  readonly conversation: Conversation | undefined
  /** The resources that the client follows, at doors with subscriptions. */
  readonly updates?: SessionUpdates | undefined
}

type Undo = () => Promise<void>

/**
 * Its life: running → answered → delivered, or lost at any moment before that. Lost means that the answer never
 * reached the client: cancelled, or the wire broke. The undos that the call registered with `ifLost` then run, once,
 * and never while the call itself still runs.
 */
export abstract class Exchange<Scope> implements CallContext<Scope> {
  /** Answered, cancelled or gone: nothing is written after it. */
  over = false
  dialogue: Dialogue | undefined
  self: Self | undefined
  /** Whether the client speaks JSON-RPC and no more of the protocol: it opened no session and takes no events. */
  readonly plain: boolean = false
  readonly id: RequestId | null
  protected readonly engine: Engine
  readonly #peer: Peer<Scope>
  #abort: AbortController | undefined
  #undos: Undo[] | undefined
  #outs: (() => void)[] | undefined
  #lost = false
  #settled = false
  #ending: Promise<void> | undefined

  constructor(id: RequestId | null, peer: Peer<Scope>, engine: Engine) {
    this.id = id
    this.#peer = peer
    this.engine = engine
    engine.exchanges.add(this)
    if (id !== null) peer.conversation?.calls.set(id, this)
  }

  /** Writes the answer, the last thing written; afterwards `closed` is called. */
  protected abstract write(text: string, status: number): void
  /** Ends the wire of an exchange that will get no answer. */
  protected abstract abandon(): void
  /** Writes a notification that belongs to this request; a wire that cannot carry one drops it, and says so by false. */
  abstract notify(text: string): boolean
  /** Whether the peer still seems to be there. */
  protected reachable(): boolean {
    return true
  }
  /** Makes sure that notifications can be carried, for requests that are nothing without them. */
  stream(): void {}
  /** The request that brought it, as the log names it. */
  get requestId(): string | undefined {
    return undefined
  }
  /** A tool was called: the line of the request says so. */
  noteCall(_call: { readonly door: string; readonly tool: string; readonly outcome: Outcome }): void {}
  /** A client has introduced itself. */
  welcome(_client: ClientInfo): void {}

  get caller(): Caller {
    return this.#peer.caller
  }
  get scope(): Scope {
    return this.#peer.scope
  }
  get client(): ClientInfo | undefined {
    return this.#peer.client
  }
  get session(): string | undefined {
    return this.#peer.session
  }
  get conversation(): Conversation | undefined {
    return this.#peer.conversation
  }
  get updates(): Peer<Scope>['updates'] {
    return this.#peer.updates
  }
  get stopping(): AbortSignal {
    return this.engine.stopping
  }
  /** Made when somebody looks: most calls end before anyone asks. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController()
      if (this.#lost) this.#abort.abort()
    }
    return this.#abort.signal
  }

  ifLost(undo: Undo): void {
    this.#undos ??= []
    this.#undos.push(undo)
  }

  whenOut(work: () => void): void {
    this.#outs ??= []
    this.#outs.push(work)
  }

  /**
   * Gives the answer. A client that hangs up right after its request has its FIN waiting in the kernel by now, and only
   * a poll phase shows it. If there is something to take back, one must pass first: a single turn can run
   * before the next poll phase, two cannot.
   */
  finish(text: string, status = 200): void {
    if (this.#undos === undefined || this.over) this.#answer(text, status)
    else afterTurns(2, () => this.#answer(text, status))
  }

  #answer(text: string, status: number): void {
    this.#settled = true
    if (this.over || !this.reachable()) void this.lose()
    else {
      this.over = true
      this.write(text, status)
    }
  }

  /** The client cancelled, or is gone. Safe to call at any time; a promise if there may be something to take back now. Never rejects. */
  lose(): Promise<void> | undefined {
    const first = !this.#lost
    this.over = true
    this.#lost = true
    if (first) {
      this.#abort?.abort()
      this.abandon()
    }
    if (this.#settled) this.#ending ??= this.takeBack().then(() => this.#end())
    return this.#ending
  }

  /** The wire is done with; `written` says whether the answer is with the client, as far as a server can know. */
  protected closed(written: boolean): void {
    if (written && this.over && !this.#lost) {
      this.#undos = undefined
      this.#end()
      const outs = this.#outs ?? []
      this.#outs = undefined
      for (const work of outs) work()
    } else void this.lose()
  }

  /** Undoes the effects of the call, the last first: its answer was lost, or the call failed halfway. */
  async takeBack(): Promise<void> {
    const undos = this.#undos ?? []
    this.#undos = undefined
    this.#outs = undefined
    for (const undo of undos.reverse())
      try {
        await this.#insist(undo)
      } catch (error) {
        this.engine.log.error({ err: error }, 'the effect of a lost answer could not be taken back')
      }
  }

  /** Undos do nothing twice, and a message that is not taken back is lost: while the database is away they are repeated, until the server stops. */
  async #insist(undo: Undo): Promise<void> {
    for (let ms = 50; ; ms = Math.min(2 * ms, 5_000))
      try {
        return await undo()
      } catch (error) {
        const passes = error instanceof HubError && error.code === 'DB_BUSY'
        if (!passes || this.stopping.aborted) throw error
        await pause(ms, this.stopping)
      }
  }

  #end(): void {
    this.engine.exchanges.delete(this)
    const calls = this.conversation?.calls
    if (this.id !== null && calls?.get(this.id) === this) calls.delete(this.id)
  }
}
