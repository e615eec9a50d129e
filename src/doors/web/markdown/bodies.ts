/** Bodies of messages as HTML: rendered in a thread, kept because they never change, shown as plain text where that takes too long. */

import { Worker } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import { systemClock } from '../../../base/clock.ts'
import { smallWorkerLimits } from '../../../base/heap.ts'
import { moduleBeside } from '../../../base/modules.ts'
import { cut } from '../../../base/text.ts'
import { type Html, html, raw } from '../html.ts'
import type { Job, Told } from './thread.ts'

interface Body {
  /** Under which it is kept: its message. Without one it is not kept. */
  readonly key?: string
  readonly text: string
  /** Where all of it is, if only its beginning is shown. */
  readonly whole?: string
}

/** Longer bodies are plain text, and cut (web.markdown.long). */
const mostRendered = 64 * 1024
/**
 * For the bodies of a page; what is not done by then is plain text (web.markdown.slow). It is CPU time of the thread: on a
 * busy machine a harmless body took half a second by the clock, and was text from then on.
 */
const usualPatienceMs = 500
/** Looks at that time. A thread that was given none of it by then is given up too: others wait for it. */
const mostLooks = 20
const keptBytes = 16 << 20
/** The thread takes 20 MB, and 150 ms to start: it is started behind a page, for the next one, and ends when nobody has looked for so long. */
const restMs = 20_000
const usualSoonMs = 200

const script = moduleBeside(import.meta.url, 'thread')

export class Bodies {
  readonly #kept = new LRUCache<string, string>({
    maxSize: keptBytes,
    sizeCalculation: (text) => 2 * text.length + 100,
  })
  #worker: Promise<Worker> | undefined
  /** One page after the other: the time of each counts from its turn. */
  #turn: Promise<unknown> = Promise.resolve()
  /** Keeps a thread that rests from being ended. */
  #stay = () => {}
  #soon: (() => void) | undefined
  #closed = false
  readonly #patienceMs: number
  readonly #soonMs: number

  constructor({ patienceMs = usualPatienceMs, soonMs = usualSoonMs }: { patienceMs?: number; soonMs?: number } = {}) {
    this.#patienceMs = patienceMs
    this.#soonMs = soonMs
  }

  /** Somebody looks at the pages, and may open a thread next. */
  expect(): void {
    if (this.#closed) return
    if (this.#worker !== undefined) {
      this.#rest()
      return
    }
    this.#soon ??= systemClock.after(this.#soonMs, () => {
      this.#soon = undefined
      // One that cannot be started is told of by the page that needs it.
      this.#start().then(
        () => this.#rest(),
        () => {},
      )
    })
  }

  async render(project: string, bodies: readonly Body[]): Promise<Html[]> {
    const found = bodies.map(({ key }) => (key === undefined ? undefined : this.#kept.get(`${project}/${key}`)))
    const missing = bodies.flatMap(({ text }, at) =>
      found[at] === undefined && text.length <= mostRendered ? [at] : [],
    )
    if (missing.length > 0) {
      const texts = missing.map((at) => bodies[at]?.text ?? '')
      const made = await this.#inTurn(() => this.#ask({ project, texts }))
      for (const [n, at] of missing.entries()) {
        const markup = made[n]
        if (markup === undefined) continue
        // Nothing is kept for one that failed or was stuck: an empty text stands for it.
        found[at] = markup ?? ''
        const key = bodies[at]?.key
        if (key !== undefined) this.#kept.set(`${project}/${key}`, markup ?? '')
      }
    }
    return bodies.map((body, at) => (found[at] ? rendered(found[at]) : plain(body)))
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#stay()
    this.#soon?.()
    const worker = await this.#worker
    await worker?.terminate()
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work)
    this.#turn = turn.catch(() => {})
    return turn
  }

  /** The HTML of each text; null where it cannot be rendered, undefined where there was no time for it. */
  async #ask(job: Job): Promise<(string | null | undefined)[]> {
    if (this.#closed) return []
    this.#stay()
    const worker = await this.#start()
    const made: (string | null | undefined)[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    let [done, looks] = [0, 0]
    let over = false
    let usedBefore: number | undefined
    const hear = (told: Told) => {
      if (told === 'ready') return
      if ('used' in told) usedBefore = inMs(told.used)
      else {
        made[told.at] = told.html
        if (++done === job.texts.length) resolve()
      }
    }
    const replace = () => {
      if (over) return
      // The one that it was at is to blame, and stays plain text.
      made[done] = null
      this.#worker = undefined
      void worker.terminate()
      resolve()
    }
    const look = async (): Promise<void> => {
      const used = usedBefore === undefined ? 0 : inMs(await worker.cpuUsage()) - usedBefore
      if (over) return
      if (used >= this.#patienceMs || ++looks === mostLooks) replace()
      else cancel = systemClock.after(this.#patienceMs - used, () => void look().catch(replace))
    }
    let cancel = systemClock.after(this.#patienceMs, () => void look().catch(replace))
    worker.on('message', hear)
    worker.once('error', replace)
    worker.ref()
    worker.postMessage(job)
    await promise
    over = true
    cancel()
    worker.off('message', hear).off('error', replace)
    worker.unref()
    this.#rest()
    return made
  }

  #rest(): void {
    this.#stay()
    if (!this.#closed) this.#stay = systemClock.after(restMs, () => this.#end())
  }

  #end(): void {
    const worker = this.#worker
    this.#worker = undefined
    // One that could not be started has nothing to end.
    void worker?.then(
      (started) => started.terminate(),
      () => {},
    )
  }

  /** Started with the first page; another one takes the place of one that was stuck. */
  #start(): Promise<Worker> {
    this.#worker ??= new Promise((resolve, reject) => {
      const worker = new Worker(script, {
        execArgv: [],
        resourceLimits: { ...smallWorkerLimits, maxOldGenerationSizeMb: 256 },
      })
      worker.once('message', () => resolve(worker))
      worker.once('error', (error) => {
        this.#worker = undefined
        reject(error)
      })
      worker.unref()
    })
    return this.#worker
  }
}

const inMs = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000

const rendered = (markup: string): Html => html`<div class="body" dir="auto">${raw(markup)}</div>`

function plain({ text, whole }: Body): Html {
  const shown = cut(text, mostRendered)
  return html`<div class="body" dir="auto"><pre class="plain">${shown}</pre>${
    shown.length < text.length &&
    whole !== undefined &&
    html`<p><a href="${whole}">All ${text.length} characters</a></p>`
  }</div>`
}
