/** Measures of `parley wait` and `parley hook` as processes: from their start to their first request, and their memory. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { percentile } from './client.ts'
import type { Row } from './rows.ts'
import { memory, own } from './server.ts'

const launcher = fileURLToPath(new URL('../bin/parley.js', import.meta.url))
const commands = { hook: ['hook', 'claude', 'UserPromptSubmit'], wait: ['wait', '--for', 'claude'] } as const
const payload = JSON.stringify({ session_id: 's', prompt: 'go on', cwd: '/', hook_event_name: 'UserPromptSubmit' })

/** For the Node of this bench, and for the one on the PATH where that is another that hooks may run on. */
export async function wakerRows(storage: string, samples: number): Promise<Row[]> {
  const rows: Row[] = []
  for (const node of nodes()) {
    const mostMs = Number(/^v(\d+)/.exec(node.version)?.[1]) < 24 ? 160 : 90
    for (const command of ['hook', 'wait'] as const) {
      const starts = []
      for (let n = 0; n < samples; n++) starts.push(await startOnce(node.program, command, storage))
      const ms = percentile(
        starts.map((one) => one.ms),
        50,
      )
      const most = Math.max(...starts.map(({ mib }) => mib))
      rows.push({
        what: `\`parley ${command}\` from its start to its first request, on Node ${node.version.replace(/^v|\..*/g, '')}`,
        measured: `${ms.toFixed(0)} ms p50, at most ${most.toFixed(0)} MB`,
        target: `≤ ${mostMs} ms, ≤ 60 MB`,
        reached: ms <= mostMs && most <= 60,
      })
    }
  }
  return rows
}

function nodes(): { readonly program: string; readonly version: string }[] {
  const own = { program: process.execPath, version: process.version }
  try {
    // The launcher of this bench puts its own Node first on the PATH.
    const path = (process.env.PATH ?? '').split(':').filter((folder) => !process.execPath.startsWith(`${folder}/`))
    const asked = ['-p', 'process.execPath + " " + process.version']
    const env = { ...process.env, PATH: path.join(':') }
    const [program = '', version = ''] = execFileSync('node', asked, { env, encoding: 'utf8' }).trim().split(' ')
    return version === own.version || Number(version.slice(1).split('.')[0]) < 20 ? [own] : [own, { program, version }]
  } catch {
    return [own]
  }
}

/** A bare server takes the request; it is answered once the memory was looked at. */
async function startOnce(node: string, command: keyof typeof commands, storage: string) {
  const asked = Promise.withResolvers<number>()
  const looked = Promise.withResolvers<void>()
  const server = createServer(async (request, response) => {
    asked.resolve(performance.now())
    request.resume()
    await looked.promise
    response.writeHead(command === 'wait' ? 409 : 200, { 'content-type': 'application/json' })
    response.end(command === 'wait' ? '{"displaced":true}' : '{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const args = [launcher, ...commands[command], '--agent', 'cleo', '--server', url]
  const env = { PATH: process.env.PATH ?? '', HOME: storage, STORAGE_ROOT: storage }
  const began = performance.now()
  const child = own(spawn(node, args, { env, cwd: storage, stdio: ['pipe', 'ignore', 'inherit'] }))
  child.stdin.end(payload)
  const gone = once(child, 'exit')
  const ms = (await asked.promise) - began
  // A hook is over at once; a waiter stands for hours.
  if (command === 'wait') await sleep(300)
  const mib = memory(child.pid ?? 0)
  looked.resolve()
  await gone
  server.close()
  return { ms, mib }
}
