/** Pictures made into WebP, one at a time and in a process of their own: no request waits for it, and none dies with it. */

import { type ChildProcess, fork } from 'node:child_process'
import { type Clock, systemClock } from '../base/clock.ts'
import type { HubError } from '../base/errors.ts'
import { limits } from '../base/limits.ts'
import { moduleBeside } from '../base/modules.ts'
import { programEnv } from '../base/processes.ts'
import type { Answer, Question } from './conversion.ts'
import { refused } from './folder.ts'
import type { Raster } from './kinds.ts'

const program = moduleBeside(import.meta.url, 'conversion')

/** The library gives up on a picture after 30 s. This is for a process that does not answer at all. */
const answerMs = 40_000

/** Then it is ended: it keeps 60 MB. */
const idleMs = 60_000

/**
 * A process instead of a thread: a thread that decodes cannot be ended before it is done (3 s of a conversion later, measured),
 * and a decoder that fails takes the whole server along. Loading the library costs 125 ms of a processor.
 */
export class Converter {
  readonly #clock: Clock
  #child: ChildProcess | undefined
  #rest = () => {}
  #last: Promise<unknown> = Promise.resolve()

  constructor(clock: Clock = systemClock) {
    this.#clock = clock
  }

  /** Of the process that converts, while there is one. */
  get pid(): number | undefined {
    return this.#child?.pid
  }

  /**
   * A picture in pixels, turned upright and without what its camera noted. One that is cut off, broken or larger than it may
   * be is refused (mail.attach.bomb, mail.attach.whole).
   */
  toWebp(what: string, bytes: Buffer, kind: Raster): Promise<Buffer> {
    const made = this.#last.then(() => this.#convert(what, bytes, kind))
    this.#last = made.catch(() => undefined)
    return made
  }

  async #convert(what: string, bytes: Buffer, kind: Raster): Promise<Buffer> {
    this.#rest()
    const answer = await this.#ask({ bytes, kind, pixels: limits.imagePixels, side: limits.imageSide }, what)
    if ('webp' in answer) return Buffer.from(answer.webp.buffer, answer.webp.byteOffset, answer.webp.length)
    if (answer.fault === 'lying') throw lying(what, kind)
    if (answer.fault === 'pixels') throw tooManyPixels(what)
    if (answer.fault === 'no-library') throw noLibrary(what)
    throw refused(what, `is no whole ${kind.toUpperCase()} picture`, {
      hint: 'Nothing was sent. It is cut off or broken: create it again.',
      cause: new Error(answer.why),
    })
  }

  /** A process that ends or is silent is replaced by the next picture's (mail.attach.replaced). */
  async #ask(question: Question, what: string): Promise<Answer> {
    const child = this.#start()
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const end = (why: string) => {
      this.#drop(child)
      reject(refused(what, why, { hint: 'Nothing was sent. Give another picture, or scale it down.' }))
    }
    const gone = (code: number | null, signal: string | null) => end(`could not be converted (${signal ?? code})`)
    const failed = (error: Error) => {
      this.#drop(child)
      reject(error)
    }
    child.once('message', resolve).once('exit', gone).once('error', failed)
    const cancel = this.#clock.after(answerMs, () => end('takes too long to be converted'))
    setAlive(child, true)
    child.send(question, (error) => error && failed(error))
    try {
      return await promise
    } finally {
      cancel()
      setAlive(child, false)
      child.off('message', resolve).off('exit', gone).off('error', failed)
      this.#rest = this.#clock.after(idleMs, () => this.#drop(child))
    }
  }

  #start(): ChildProcess {
    if (this.#child?.connected) return this.#child
    this.#child = fork(program, {
      serialization: 'advanced',
      execArgv: [],
      env: programEnv(),
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    // A converter that fails while idle is replaced by the next picture: its channel is not connected any more.
    this.#child.on('error', () => {})
    return this.#child
  }

  #drop(child: ChildProcess): void {
    child.kill('SIGKILL')
    if (this.#child === child) this.#child = undefined
  }
}

/** An idle converter does not keep the program alive; it ends with the program, which closes its channel. */
function setAlive(child: ChildProcess, alive: boolean): void {
  for (const one of [child, child.channel]) alive ? one?.ref() : one?.unref()
}

const converter = new Converter()

export const toWebp: Converter['toWebp'] = (what, bytes, kind) => converter.toWebp(what, bytes, kind)

export const lying = (what: string, declared: string): HubError =>
  refused(what, `is called ${declared.toUpperCase()}, and its content is something else`, {
    hint: 'Nothing was sent. Give it the name and type of its content.',
  })

const tooManyPixels = (what: string): HubError =>
  refused(what, `has more than ${limits.imagePixels} pixels, or a side of more than ${limits.imageSide}`, {
    hint: 'Nothing was sent. Scale it down.',
  })

const noLibrary = (what: string): HubError =>
  refused(what, 'cannot be converted: this Parley was installed without the package sharp', {
    hint: 'Nothing was sent. The operator installs Parley with its optional packages, or sets CONVERT_IMAGES=false.',
  })
