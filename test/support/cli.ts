/** The commands for people, beside a running Parley. */
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import { runProgram } from '../../src/app/program.ts'
import { httpPeer, type Message } from './bus.ts'
import { bareEnv, type Parley, spawnParley } from './parley.ts'

export interface Outcome {
  readonly code: number | string
  readonly stdout: string
  readonly stderr: string
}

interface Given {
  /** The text on its stdin. */
  input?: string | Uint8Array
  env?: Record<string, string>
  /** Only for one at a time: the whole test goes there meanwhile. */
  cwd?: string
}

/** Runs `parley …` to its end on the storage of a running Parley, in this process: a start of its own takes 300 ms. */
export async function parleyCommand(
  { storage }: Pick<Parley, 'storage'>,
  args: readonly string[],
  { input = '', env = {}, cwd }: Given = {},
): Promise<Outcome> {
  const before = process.cwd()
  if (cwd !== undefined) process.chdir(cwd)
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  stdin.end(input)
  const printed = [stdout, stderr].map((stream) => text(stream))
  const code = await runProgram(args, { env: bareEnv(storage, env), stdin, stdout, stderr })
  if (cwd !== undefined) process.chdir(before)
  for (const stream of [stdout, stderr]) stream.end()
  const [out = '', err = ''] = await Promise.all(printed)
  return { code: code ?? 0, stdout: out, stderr: err }
}

/** The same as a process. */
export async function parleyProcess(
  { storage }: Pick<Parley, 'storage'>,
  args: readonly string[],
  { input = '', env = {} }: Given = {},
): Promise<Outcome> {
  const { child, output, gone } = spawnParley([...args], bareEnv(storage, env))
  // It may end without reading.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  return { code: await gone, ...output }
}

/** The output of a command; throws if it fails. */
export async function printedBy(
  parley: Pick<Parley, 'storage'>,
  args: readonly string[],
  given: Given = {},
): Promise<string> {
  const outcome = await parleyCommand(parley, args, given)
  expect(outcome).toMatchObject({ code: 0 })
  return outcome.stdout
}

/** `parley topics …` beside a server, and the peers that talk there. */
export function topicsBeside(parley: () => Pick<Parley, 'storage' | 'url'>) {
  const topics = (...args: string[]) => printedBy(parley(), ['topics', ...args])
  const peer = (name: string, project = '') => httpPeer(parley(), `?agent=${name}${project}`)
  return {
    topics,
    peer,
    json: async (...args: string[]) => JSON.parse(await topics(...args, '--json')),
    fails: (...args: string[]) => parleyCommand(parley(), ['topics', ...args]),
    watch: (...args: string[]) => spawnParley(['topics', 'watch', ...args], bareEnv(parley().storage)),
    /** A topic of its own for a test, in which bob takes part and has said these things. */
    async topicOf(name: string, ...texts: string[]) {
      const bob = peer('bob')
      const id = await bob.join('bob', name)
      return { bob, id, said: texts.length > 0 ? await bob.send(id, ...texts) : ([] as Message[]) }
    },
  }
}
