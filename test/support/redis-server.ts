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
  const flags = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const child = spawn('redis-server', [...flags, ...(password === undefined ? [] : ['--requirepass', password])], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const stop = async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  while (!said.includes('Ready to accept connections')) {
    if (child.exitCode !== null) throw new Error(`redis-server ended: ${said}`)
    await sleep(10)
  }
  return { url: withPassword(port, password), stop }
}
