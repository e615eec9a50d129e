/** The product as a user starts it, on a free port and with a folder of its own, and an agent with a key in it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { build } from '../build.ts'

export interface Parley {
  readonly url: string
  readonly root: string
  /** The environment of a command beside the server, on the same storage. */
  readonly env: Readonly<Record<string, string>>
  /** The key of an agent that has one: nobody acts as it without. */
  readonly key: string
  /** Its folder, where clients may keep what they write. */
  readonly folder: string
  stop(): Promise<void>
}

export async function startParley(): Promise<Parley> {
  await build()
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const folder = await mkdtemp(join(tmpdir(), 'parley-clients-'))
  const env = { PATH: process.env.PATH ?? '', HOME: folder, STORAGE_ROOT: folder, LOG_LEVEL: 'warn' }
  const child = spawn(process.execPath, [join(root, 'bin/parley.js'), 'serve', '--port', '0'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const stop = async () => {
    child.kill()
    if (child.exitCode === null) await once(child, 'close')
    await rm(folder, { recursive: true, force: true })
  }
  for await (const line of createInterface(child.stdout)) {
    const url = /ready at (http:\/\/\S+)/.exec(line)?.[1]
    if (url === undefined) continue
    return { url, root, env, folder, key: await register(url, 'alice'), stop }
  }
  throw new Error('Parley ended before it was ready.')
}

async function register(url: string, name: string): Promise<string> {
  const headers = { 'Content-Type': 'application/json' }
  const answer = await fetch(`${url}/agents/register`, { method: 'POST', headers, body: JSON.stringify({ name }) })
  const { api_key: key } = (await answer.json()) as { api_key?: string }
  if (key === undefined) throw new Error(`${name} was not registered: ${answer.status}`)
  return key
}
