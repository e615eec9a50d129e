/** `parley join`: what it asks and stores, and a server that lies about the agent. */

import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { parleyCommand, printedBy } from '../support/cli.ts'
import { mailbox, type Served, serveHere, temporaryFolder } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const key = `amb_${'a1'.repeat(32)}`
/** In no repository, and without programs: `join` also sets up the clients that it finds. */
const apart = (home: string) => ({ cwd: home, env: { PATH: '' } })
const fileOf = (home: string) => join(home, '.parley', 'credentials.json')

async function linkFor(parley: Served, ...args: string[]): Promise<string> {
  const line = await printedBy(parley, ['invite', ...args], { env: { HTTP_PUBLIC_URL: parley.url } })
  return line.trim().split(' ').at(-1) ?? ''
}

verifies('cli.join.key', 'The key is stored for its owner alone, and opens the mailbox', async () => {
  const parley = await serveHere()
  const home = await temporaryFolder()
  await mailbox(parley, 'alice').send('bob', 'hello')
  const link = await linkFor(parley, 'bob')
  const unasked = await parleyCommand({ storage: home }, ['join', link], apart(home))
  expect(unasked).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('--yes') })
  const joined = await parleyCommand({ storage: home }, ['join', link, '--yes'], apart(home))
  expect(joined).toMatchObject({ code: 0, stderr: expect.stringContaining(`asks ${parley.url} for the key`) })
  expect(joined.stdout).toContain(`parley init --server ${parley.url}`)
  expect((await stat(fileOf(home))).mode & 0o777).toBe(0o600)
  const stored = JSON.parse(await readFile(fileOf(home), 'utf8')).servers[parley.url].bob
  expect(stored).toMatchObject({ project: 'commons', door: 'mailbox', mailPath: '/mcp' })
  expect(joined.stdout + joined.stderr).not.toContain(stored.key)
  const headers = { Authorization: `Bearer ${stored.key}` }
  expect(await mailbox(parley, 'bob', { headers }).check()).toMatchObject({ content: 'hello' })
  // A second agent of the same server stands beside the first; the used link is refused before the server is asked.
  await printedBy({ storage: home }, ['join', await linkFor(parley, 'carol'), '--yes', '--json'], apart(home))
  expect(Object.keys(JSON.parse(await readFile(fileOf(home), 'utf8')).servers[parley.url])).toEqual(['bob', 'carol'])
  expect(await parleyCommand({ storage: home }, ['join', link, '--yes'], apart(home))).toMatchObject({ code: 1 })
})

verifies('cli.join.again', 'A key that was revoked or rotated is replaced, a good one is not', async () => {
  const parley = await serveHere()
  const home = await temporaryFolder()
  const join = (...args: string[]) => parleyCommand({ storage: home }, ['join', ...args, '--yes'], apart(home))
  const stored = async () => JSON.parse(await readFile(fileOf(home), 'utf8')).servers[parley.url].bob
  expect(await join(await linkFor(parley, 'bob'))).toMatchObject({ code: 0 })
  const first = await stored()
  await printedBy(parley, ['keys', 'revoke', 'bob'])
  const link = await linkFor(parley, 'bob')
  const again = await join(link)
  expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining('takes the place of the key there') })
  const second = await stored()
  expect(second).toEqual({ ...first, key: expect.not.stringContaining(first.key) })
  expect(await join(link)).toMatchObject({ code: 1, stderr: expect.stringContaining('holds a key of bob') })

  const rotated = (await printedBy(parley, ['keys', 'rotate', 'bob'])).trim()
  expect(await join(link)).toMatchObject({ code: 1, stderr: expect.stringContaining('Ask the sender') })
  const given = (text: string, ...args: string[]) =>
    parleyCommand({ storage: home }, ['join', parley.url, '--key', ...args], { ...apart(home), input: text })
  expect(await given('', rotated, '--yes')).toMatchObject({ code: 2, stderr: expect.stringContaining('on stdin') })
  expect(await given(rotated, '-')).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') })
  const wrong = await given(first.key, '-', '--yes')
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('keys rotate') })
  expect(await stored()).toEqual(second)
  expect(await given(`${rotated}\n`, '-', '--yes')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('You are bob'),
  })
  expect(await stored()).toEqual({ ...first, key: rotated })

  // The first key of an agent in a project of its own, where none is held.
  const carol = (await printedBy(parley, ['keys', 'create', 'carol'])).trim()
  expect(await given(carol, '-', '--yes')).toMatchObject({ code: 0 })
  const { servers } = JSON.parse(await readFile(fileOf(home), 'utf8'))
  expect(servers[parley.url].carol).toEqual({ key: carol, project: 'commons', door: 'mail', mailPath: '/mcp' })
})

verifies('cli.join.key', 'The plan names the clients and their files, and a refusal the next step', async () => {
  const home = await temporaryFolder()
  await writeFile(join(home, 'claude'), '', { mode: 0o755 })
  const surroundings = { cwd: home, env: { PATH: home } }
  const none = createServer((_, response) => response.writeHead(404).end()).listen(0, '127.0.0.1')
  onTestFinished(() => void none.close())
  await new Promise((resolve) => none.once('listening', resolve))
  const link = `http://127.0.0.1:${(none.address() as AddressInfo).port}/join/bob-${'0'.repeat(25)}`
  const planned = await parleyCommand({ storage: home }, ['join', link], surroundings)
  expect(planned.stderr).toContain('This sets up Claude Code for all your folders')
  expect(planned.stderr).toContain(join(home, '.claude.json'))
  const refused = await parleyCommand({ storage: home }, ['join', link, '--yes'], surroundings)
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('ask its sender') })
})

verifies('cli.join.key', 'A file that cannot be read is left alone, and the invitation stays good', async () => {
  const parley = await serveHere()
  const home = await temporaryFolder()
  await mailbox(parley, 'alice').check()
  const link = await linkFor(parley, 'bob')
  await mkdir(join(home, '.parley'))
  await writeFile(fileOf(home), 'mine: not JSON')
  expect(await parleyCommand({ storage: home }, ['join', link, '--yes'], apart(home))).toMatchObject({
    code: 1,
    stdout: '',
  })
  expect(await readFile(fileOf(home), 'utf8')).toBe('mine: not JSON')
  const another = await temporaryFolder()
  expect(await parleyCommand({ storage: another }, ['join', link, '--yes'], apart(another))).toMatchObject({ code: 0 })
})

verifies('cli.join.lies', 'A server that names another agent, in its answer or by its key, is refused', async () => {
  const says = { joined: 'mallory', me: 'bob' }
  const liar = createServer((request, response) => {
    response.writeHead(request.method === 'POST' ? 201 : 200, { 'content-type': 'application/json' })
    const joined = { agent: says.joined, project: 'commons', door: 'mailbox', key, mail_path: '/mcp' }
    response.end(JSON.stringify(request.method === 'POST' ? joined : { name: says.me }))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void liar.close())
  await new Promise((resolve) => liar.once('listening', resolve))
  const link = `http://127.0.0.1:${(liar.address() as AddressInfo).port}/join/bob-${'0'.repeat(25)}`
  for (const lie of [
    { joined: 'mallory', me: 'bob' },
    { joined: 'bob', me: 'mallory' },
  ]) {
    Object.assign(says, lie)
    const home = await temporaryFolder()
    const refused = await parleyCommand({ storage: home }, ['join', link, '--yes'], apart(home))
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('another agent than bob') })
    expect(await readFile(fileOf(home), 'utf8')).not.toContain(key)
  }
})

verifies('cli.join.lies', 'What is no link of an invitation is asked nowhere', async () => {
  const home = await temporaryFolder()
  for (const link of ['bob', 'ftp://a/join/bob-1', `https://u:p@a.example/join/bob-${'0'.repeat(25)}`])
    expect(await parleyCommand({ storage: home }, ['join', link, '--yes'], apart(home))).toMatchObject({
      code: 1,
      stdout: '',
    })
})
