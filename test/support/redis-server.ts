/** A Redis server as a process of its own, where the machine has the program. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export const withPassword = (port: number, password?: string): string =>
  `redis://${password === undefined ? '' : `:${encodeURIComponent(password)}@`}127.0.0.1:${port}`

/** A port that nobody listens on, most likely for as long as the test runs. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** A server of our own, until it is stopped. */
export async function startRedis(password?: string): Promise<{ url: string; stop(): Promise<void> }> {
  const port = await freePort()
  const secret = password === undefined ? [] : ['--requirepass', password]
  const stop = await runRedis(['--port', String(port), '--save', '', ...secret])
  return { url: withPassword(port, password), stop }
}

/** Returns what stops it. */
export async function runRedis(
  args: readonly string[],
  ready = 'Ready to accept connections',
): Promise<() => Promise<void>> {
  const child = spawn('redis-server', [...args, '--bind', '127.0.0.1'], { stdio: ['ignore', 'pipe', 'ignore'] })
  const stop = async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  while (!said.includes(ready)) {
    if (child.exitCode !== null) throw new Error(`redis-server ended: ${said}`)
    await sleep(10)
  }
  return stop
}
