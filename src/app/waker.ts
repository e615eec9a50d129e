/** `parley wait`, `hook` and `attach`: a program of its own, which loads little and runs on Node 20, because clients wait for it. */

import { existsSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { HubError } from '../base/errors.ts'
import { attach } from './attach.ts'
import { hook } from './hook.ts'
import { wait } from './wait.ts'
import { type WakerName, wakerCommands } from './waker-options.ts'

/** The process around it. Its streams are touched only where they are needed: Node makes each at its first use. */
export interface Around {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly stdout: Writable
  readonly stderr: Writable
}

export interface Asked {
  readonly words: readonly string[]
  readonly options: Readonly<Record<string, string | boolean | undefined>>
  /** The folder of the checkout that it runs from, if it does. */
  readonly checkout: string | undefined
}

const root = new URL('../../', import.meta.url)

/** The exit code. */
export async function waker(args: readonly string[], around: Around): Promise<number> {
  const name = nameOf(args[0])
  try {
    return await programs[name](read(name, args.slice(1)), around)
  } catch (error) {
    if (name === 'hook') await written(around.stdout, '{}\n')
    await written(around.stderr, `${explain(error)}\n`)
    // Never 2: that would begin a turn of Claude Code, or stop it.
    return name === 'hook' ? 0 : 1
  }
}

const programs = { wait, hook, attach } as const satisfies Record<WakerName, unknown>

const nameOf = (given: string | undefined): WakerName => (given === 'hook' || given === 'attach' ? given : 'wait')

const heard = new WeakSet<Writable>()

/** Resolves when the text has left the process; with false where nobody reads any more. */
export const written = (stream: Writable, text: string): Promise<boolean> =>
  new Promise((resolve) => {
    // Told by the callback too; without a listener it would end the process with a trace.
    if (!heard.has(stream)) stream.on('error', () => {})
    heard.add(stream)
    stream.write(text, (error) => resolve(!error))
  })

function read(name: WakerName, args: string[]): Asked {
  const { words, options } = wakerCommands[name]
  const types = Object.entries(options).map(([option, row]) => [
    option,
    { type: 'value' in row ? 'string' : 'boolean' },
  ])
  const checkout = existsSync(new URL('src/', root)) ? fileURLToPath(root) : undefined
  try {
    const { values, positionals } = parseArgs({ args, options: Object.fromEntries(types), allowPositionals: true })
    if (positionals.length !== words.length)
      throw new Error(words.length === 0 ? `It takes no ${positionals[0]}.` : `It needs <${words.join('> <')}>.`)
    return { words: positionals, options: values as Asked['options'], checkout }
  } catch (error) {
    // Its first sentence: the next one is about arguments that begin with a dash.
    const [says] = (error as Error).message.split(/(?<=\.) /)
    throw new HubError('INVALID_ARGUMENT', `parley ${name}: ${says}`, {
      hint: `\`parley ${name} --help\` shows how to use it.`,
    })
  }
}

function explain(error: unknown): string {
  if (error instanceof HubError) return error.hint === undefined ? error.message : `${error.message}\n${error.hint}`
  return `Parley failed: ${error instanceof Error ? error.stack : String(error)}`
}
