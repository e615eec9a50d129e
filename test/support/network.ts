/** A network of its own for a machine: a namespace with one cable to this machine, where root and `ip` are to be had. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

export interface Network {
  /** This machine, as seen from there. */
  readonly address: string
  /** Stands before a command that runs there. */
  readonly inside: readonly string[]
}

/** The name of this machine there; the certificate of test/fixtures/tls is good for it. */
export const hostName = 'parley.test'

let count = 0

/** The reason where there is none to be had. It is gone with the test. */
export function newNetwork(): Network | string {
  if (process.platform !== 'linux') return 'it is not Linux'
  if (process.getuid?.() !== 0) return 'it takes root'
  const name = `parley-${process.pid}-${++count}`
  const [here, there] = [`pa${process.pid}-${count}`, `pb${process.pid}-${count}`].map((one) => one.slice(-15))
  // One of many small nets: several suites may run on a machine.
  const [host, own] = [1, 2].map((n) => `10.213.${process.pid % 250}.${(count % 60) * 4 + n}`)
  const names = join('/etc/netns', name)
  const ip = (...args: (string | undefined)[]) => execFileSync('ip', args as string[], { stdio: 'pipe' })
  onTestFinished(() => {
    rmSync(names, { recursive: true, force: true })
    try {
      ip('netns', 'delete', name)
    } catch {
      // It was never made.
    }
  })
  try {
    ip('netns', 'add', name)
    ip('link', 'add', here, 'type', 'veth', 'peer', 'name', there, 'netns', name)
    ip('address', 'add', `${host}/30`, 'dev', here)
    ip('link', 'set', here, 'up')
    ip('-n', name, 'address', 'add', `${own}/30`, 'dev', there)
    for (const device of [there, 'lo']) ip('-n', name, 'link', 'set', device, 'up')
    mkdirSync(names, { recursive: true })
    writeFileSync(join(names, 'hosts'), `127.0.0.1 localhost\n${host} ${hostName}\n`)
  } catch (error) {
    return `ip cannot make it (${(error as Error).message.trim().split('\n').at(-1)})`
  }
  return { address: host ?? '', inside: ['ip', 'netns', 'exec', name] }
}

/** A server of this machine, as the network reaches it; its URL there. */
export async function reachable({ address }: Network, url: string): Promise<string> {
  const { port } = new URL(url)
  const passing = createServer((socket) => {
    const on = connect(Number(port), '127.0.0.1')
    for (const end of [socket, on]) end.on('error', () => {})
    socket.pipe(on).pipe(socket)
  }).listen(0, address)
  await once(passing, 'listening')
  onTestFinished(() => void passing.close())
  return `http://${address}:${(passing.address() as AddressInfo).port}`
}
