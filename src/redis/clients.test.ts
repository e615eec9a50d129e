/** Redis as operators run it: with users of its own, over TLS, as a Cluster, and behind Sentinels. */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { describe, expect, onTestFinished } from 'vitest'
import { temporaryFolder } from '../../test/support/parley.ts'
import { freePort, runRedis } from '../../test/support/redis-server.ts'
import { verifies } from '../../test/support/verifies.ts'
import { openRedis, type Redis } from './redis.ts'

const installed = (program: string, flag: string) => spawnSync(program, [flag]).status === 0

async function run(args: readonly (string | number)[], ready?: string): Promise<void> {
  onTestFinished(await runRedis(args.map(String), ready))
}

function open(url: string): Redis {
  const redis = openRedis(url, { timeoutMs: 10_000, restMs: 0 })
  onTestFinished(() => redis.close())
  return redis
}

const newKey = () => `parley-test:${randomBytes(6).toString('hex')}`
const script = "return redis.call('INCR', KEYS[1]) + ARGV[1]"

async function works({ send }: Redis): Promise<void> {
  const [key, counter] = [newKey(), newKey()]
  expect(await send('SET', key, 'Grüße', 'PX', 60_000)).toBe('OK')
  expect(await send('GET', key)).toBe('Grüße')
  expect(await send('EVAL', script, 1, counter, 10)).toBe(11)
}

describe.skipIf(!installed('redis-server', '--version'))('A Redis', () => {
  verifies('all.redis.kinds', 'may let a user do only what Parley needs', async () => {
    const port = await freePort()
    const allowed = ['on', '>p@ss', '~parley*', '-@all', '+get', '+set', '+incr', '+eval', '+evalsha']
    await run(['--port', port, '--save', '', '--user', 'default', 'off', '--user', 'parley', ...allowed])
    await works(open(`redis://parley:p%40ss@127.0.0.1:${port}`))
    const { send } = open(`redis://parley:wrong@127.0.0.1:${port}`)
    await expect(send('GET', newKey())).rejects.toThrow(/^Redis takes no such password$/)
  })

  verifies(
    'all.redis.kinds',
    'may be a Cluster, whose nodes each have some of the keys',
    async () => {
      const nodes: { port: number; bus: number; send: Redis['send'] }[] = []
      for (let n = 0; n < 2; n++) {
        const [port, bus] = [await freePort(), await freePort()]
        const cluster = ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1', '--cluster-port', bus]
        await run(['--port', port, '--save', '', '--dir', await temporaryFolder(), ...cluster])
        nodes.push({ port, bus, send: open(`redis://127.0.0.1:${port}`).send })
      }
      const [one, other] = nodes
      if (one === undefined || other === undefined) throw new Error('no nodes')
      await one.send('CLUSTER', 'ADDSLOTSRANGE', 0, 8191)
      await other.send('CLUSTER', 'ADDSLOTSRANGE', 8192, 16_383)
      await one.send('CLUSTER', 'MEET', '127.0.0.1', other.port, other.bus)
      for (const { send } of nodes)
        await expect.poll(() => send('CLUSTER', 'INFO'), { timeout: 20_000 }).toMatch(/cluster_state:ok/)
      const cluster = open(`redis+cluster://127.0.0.1:${one.port},127.0.0.1:${other.port}`)
      for (let n = 0; n < 10; n++) await works(cluster)
      for (const { send } of nodes) expect(await send('DBSIZE')).toBeGreaterThan(0)
      await expect(cluster.send('FROBNICATE', 'a')).rejects.toThrow(/^Redis refused it: ERR unknown command/)
    },
    60_000,
  )

  verifies(
    'all.redis.kinds',
    'may be found by its Sentinels, one of which is away',
    async () => {
      const [port, sentinel, nobody] = [await freePort(), await freePort(), await freePort()]
      await run(['--port', port, '--save', '', '--requirepass', 'hush'])
      const file = join(await temporaryFolder(), 'sentinel.conf')
      await writeFile(
        file,
        `port ${sentinel}\nsentinel monitor main 127.0.0.1 ${port} 1\nsentinel auth-pass main hush\n`,
      )
      await run([file, '--sentinel'], '+monitor master main')
      const sentinels = `redis+sentinel://:hush@127.0.0.1:${nobody},127.0.0.1:${sentinel}`
      await works(open(`${sentinels}/main`))
      const key = newKey()
      await open(`${sentinels}/main/2`).send('SET', key, 'in 2')
      expect(await open(`redis://:hush@127.0.0.1:${port}/2`).send('GET', key)).toBe('in 2')
      const unknown = openRedis(`${sentinels}/other`)
      onTestFinished(() => unknown.close())
      await expect(unknown.send('GET', key)).rejects.toThrow(/^Redis /)
    },
    60_000,
  )

  verifies('all.redis.kinds', 'may want TLS, with a certificate that the machine trusts', async ({ skip }) => {
    skip(!installed('openssl', 'version'), 'there is no openssl to make a certificate')
    const folder = await temporaryFolder()
    const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
    const wanted = ['-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1']
    spawnSync('openssl', ['req', '-x509', ...wanted, '-keyout', key, '-out', certificate])
    const port = await freePort()
    const files = ['--tls-cert-file', certificate, '--tls-key-file', key, '--tls-ca-cert-file', certificate]
    await run(['--port', 0, '--save', '', '--tls-port', port, '--tls-auth-clients', 'no', ...files])
    const url = `rediss://127.0.0.1:${port}`
    await expect(open(url).send('GET', newKey())).rejects.toThrow(/^Redis cannot be reached \(\w+CERT\w*\)$/)
    const trusted = getCACertificates()
    onTestFinished(() => setDefaultCACertificates(trusted))
    setDefaultCACertificates([...trusted, await readFile(certificate, 'utf8')])
    await works(open(url))
  })
})
