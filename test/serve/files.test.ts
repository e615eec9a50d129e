/** A server that may open few files: it says so once, and refuses connections instead of falling over. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished } from 'vitest'
import { bareEnv, mailbox, temporaryFolder } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const program = fileURLToPath(new URL('../../bin/parley.js', import.meta.url))

async function startWith(files: number) {
  const storage = await temporaryFolder()
  const child = spawn('sh', ['-c', `ulimit -n ${files} && exec "$0" "$@"`, process.execPath, program, 'serve'], {
    env: bareEnv(storage, { HTTP_PORT: '0', LOG_JSON_ENABLED: 'true' }),
    cwd: storage,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const gone = once(child, 'close')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await gone
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  let stdout = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  await expect.poll(() => stdout, { timeout: 20_000 }).toMatch(/ready at http:\S+:\d+\s/)
  const url = /ready at (http:\S+)/.exec(stdout)?.[1] ?? ''
  const warnings = () => stderr.split('\n').filter((line) => line.includes('"level":40'))
  return { url, port: Number(new URL(url).port), warnings }
}

verifies(
  'serve.start.files',
  'warns once, and serves those who came first while others are refused',
  async () => {
    const { url, port, warnings } = await startWith(160)
    expect(warnings()).toHaveLength(1)
    expect(JSON.parse(warnings()[0] ?? '')).toMatchObject({ files: 160, connections: 96 })
    const alice = mailbox({ url }, 'alice')
    await alice.send('alice', 'before')
    const sockets: Socket[] = []
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy()
    })
    let closed = 0
    for (let n = 0; n < 150; n++) {
      const socket = connect(port, '127.0.0.1').on('error', () => {})
      socket.once('close', () => {
        closed++
      })
      sockets.push(socket)
    }
    await expect.poll(() => closed, { timeout: 10_000 }).toBeGreaterThanOrEqual(150 - 96)
    expect(closed).toBeLessThan(60)
    await expect.poll(() => warnings().length).toBe(2)
    const first = sockets.find(({ destroyed, readyState }) => !destroyed && readyState === 'open')
    first?.write('GET /health/readiness HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
    expect(String((await once(first as Socket, 'data'))[0])).toContain('200 OK')
    for (const socket of sockets) socket.destroy()
    await expect
      .poll(() => alice.check().catch(() => undefined), { timeout: 10_000 })
      .toMatchObject({ content: 'before' })
  },
  60_000,
)
