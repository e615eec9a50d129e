/** People's commands on another machine: by HTTP with the token file or a stored key, as beside the store. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type Outcome, parleyCommand, printedBy } from '../../support/cli.ts'
import { loadedBy } from '../../support/loaded.ts'
import { newDesk } from '../../support/mail.ts'
import {
  bareEnv,
  mailbox,
  type Served,
  serveHere,
  shareServer,
  spawnParley,
  temporaryFolder,
} from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

const token = 'the-token-of-the-operator'
const parley = shareServer({ env: { HTTP_BEARER_TOKEN: token } })

/** A machine without a store, whose user keeps the token of the operator. */
async function laptop(): Promise<{ storage: string }> {
  const storage = await temporaryFolder()
  await writeFile(join(storage, 'operator.token'), `${token}\n`, { mode: 0o600 })
  return { storage }
}

verifies('cli.people.server', 'each command prints by a server what it prints beside the store', async () => {
  const [desk, away] = [await newDesk(parley()), await laptop()]
  const { message_id: id } = await desk.send({ subject: 'Plan', body_md: 'the cache', thread_id: 'K-7' })
  const both = async (...args: string[]) => {
    const [here, there] = [
      await parleyCommand(parley(), args),
      await parleyCommand(away, [...args, '--server', parley().url]),
    ]
    // The server knows who was active a moment ago before it is written down, which decides the order, and a second may pass.
    const comparable = (outcome: Outcome) =>
      /^(agents|who)$/.test(args[0] ?? '')
        ? outcome.stdout
            .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'then')
            .replace(/"seen_seconds":\d+|seen \d+ s ago/g, 'seen lately')
            .split(args.includes('--json') ? /(?<=\}),(?=\{)|[[\]]/ : '\n')
            .sort()
        : outcome
    expect(comparable(there)).toEqual(comparable(here))
    return there
  }
  for (const command of ['inbox', 'threads', 'agents', 'who', 'search cache', `read ${id}`])
    for (const json of [[], ['--json']]) await both(...command.split(' '), ...json)
  await both('inbox', 'RedStone', '--project', desk.project, '--unread')
  await both('inbox', '--project', 'nowhere')
  await both('read', '99999999')
  await both('send', 'NobodyAtAll', 'hello')
  await both('send', 'RedStone')
  await both('inbox', '--sent')
  expect(await both('topics', 'create', 'x'.repeat(300))).toMatchObject({ code: 2 })
})

verifies(
  ['cli.people.server', 'cli.people.token'],
  'a person writes by the token file, and sealed mail stays sealed',
  async () => {
    const [desk, away] = [await newDesk(parley()), await laptop()]
    const env = { PARLEY_SERVER: parley().url }
    const run = async (...args: string[]) => JSON.parse(await printedBy(away, [...args, '--json'], { env }))
    const { sent } = await run('send', 'RedStone', '--project', desk.project, 'Please stop.')
    expect(await desk.inbox('RedStone')).toMatchObject([
      { id: sent[0].message_id, from: 'HumanOverseer', subject: 'Please stop.', importance: 'high' },
    ])
    expect(await run('reply', String(sent[0].message_id), 'Go on.')).toMatchObject({ project: sent[0].project })
    expect(await run('topics', 'create', 'by-http')).toMatchObject({ name: 'by-http', created: true })
    expect(await run('topics', 'create', 'by-http')).toMatchObject({ created: false })

    const keyOf = async (name: string): Promise<string> =>
      JSON.parse(await printedBy(parley(), ['keys', 'create', name, '--json'])).key
    const [ann, bob] = [await keyOf('ann'), await keyOf('bob')]
    await mailbox(parley(), 'ann', { headers: { authorization: `Bearer ${ann}` } }).send('bob', 'quiet')
    const all = await run('inbox', '--project', 'commons')
    expect(all.messages[0]).toMatchObject({ from: 'ann', sealed: true })
    expect(JSON.stringify(all)).not.toContain('quiet')

    await mkdir(join(away.storage, '.parley'))
    const key = { key: bob, project: 'commons', door: 'mailbox', mailPath: '/mcp' }
    const servers = { [parley().url]: { bob: key } }
    await writeFile(join(away.storage, '.parley', 'credentials.json'), JSON.stringify({ servers }))
    const own = await run('inbox', '--agent', 'bob')
    expect(own.messages).toMatchObject([{ from: 'ann', excerpt: 'quiet' }])
    // An agent answers as itself; to begin, it has the tools of its client. The help says so too.
    const answered = await run('reply', String(own.messages[0].id), 'loud', '--agent', 'bob')
    expect(await mailbox(parley(), 'ann', { headers: { authorization: `Bearer ${ann}` } }).check()).toMatchObject({
      from: 'bob',
      content: 'loud',
    })
    expect(answered.message_id).toBeGreaterThan(own.messages[0].id)
    expect(await printedBy(away, ['reply', '--help'])).toContain('--agent')
    expect(await printedBy(away, ['send', '--help'])).not.toContain('--agent')
    expect(await parleyCommand(away, ['send', 'ann', 'x', '--agent', 'bob'], { env })).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^error: unknown option '--agent'/),
    })
    expect(await parleyCommand(away, ['inbox', '--agent', 'eve'], { env })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/no key of eve .*\nYou hold: bob\./),
    })
  },
)

verifies('cli.people.stored-key', 'the only key that is held is used, and that is said', async () => {
  const away = { storage: await temporaryFolder() }
  const { key } = JSON.parse(await printedBy(parley(), ['keys', 'create', 'joe', '--json']))
  await mkdir(join(away.storage, '.parley'))
  const joe = { key, project: 'commons', door: 'mailbox', mailPath: '/mcp' }
  const servers = { [parley().url]: { joe } }
  await writeFile(join(away.storage, '.parley', 'credentials.json'), JSON.stringify({ servers }))
  const at = ['--server', parley().url]
  expect(await parleyCommand(away, ['inbox', '--json', ...at])).toMatchObject({
    code: 0,
    stderr: `As the agent joe, with the key that \`parley join\` stored for ${parley().url}.\n`,
  })
  // A person who names the agent knows it.
  expect(await parleyCommand(away, ['inbox', '--json', ...at, '--agent', 'joe'])).toMatchObject({ code: 0, stderr: '' })
})

verifies(
  ['cli.people.meant', 'cli.people.server'],
  'the token goes where it is meant for, and errors lead on',
  async () => {
    const away = await laptop()
    const refused = async (env: Record<string, string>, args: string[], says: RegExp) =>
      expect(await parleyCommand(away, args, { env })).toMatchObject({ code: 1, stderr: expect.stringMatching(says) })
    const stranger = ['inbox', '--server', 'https://stranger.invalid']
    await refused(
      {},
      stranger,
      /^There is no token and no key for https:\/\/stranger\.invalid\.\nAs its operator, set PARLEY_SERVER=/,
    )
    // Named in the settings, it is asked.
    await refused({ PARLEY_SERVER: 'https://stranger.invalid' }, ['inbox'], /cannot be reached/)
    await refused({}, ['inbox', '--server', 'ftp://x'], /^--server must be host:port/)
    await refused(
      {},
      ['inbox', '--server', 'http://127.0.0.1:9179'],
      /^The server at http:\/\/127\.0\.0\.1:9179 cannot be reached .*\nCheck --server/,
    )
    await refused({}, ['watch', '--server', 'http://127.0.0.1:9179'], /cannot be reached/)
    await refused(
      { HTTP_BEARER_TOKEN: 'a-wrong-operators-token' },
      ['inbox', '--server', parley().url],
      /does not take this token or key/,
    )
    await refused({}, ['inbox', '--agent', 'bob'], /^--agent is about a key at a server/)
    // Without credentials a caller on this machine reads, as an agent with curl does, and is no person.
    const bare = { storage: await temporaryFolder() }
    expect(await parleyCommand(bare, ['inbox', '--server', parley().url])).toMatchObject({ code: 0 })
    expect(await parleyCommand(bare, ['send', 'ann', 'x', '--server', parley().url])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^This is for people/),
    })
  },
)

verifies(['cli.people.resumes', 'cli.people.watch'], 'watch goes on over a restart of the server', async () => {
  const env = { HTTP_BEARER_TOKEN: token }
  const first = await serveHere({ env })
  const away = await laptop()
  const watching = spawnParley(['watch', '--json', '--server', first.url], bareEnv(away.storage))
  await watching.printed(/Watching all mail/)
  const say = async (server: Served, subject: string) => (await newDesk(server)).send({ subject })
  await say(first, 'one')
  await watching.printed(/"one"/)
  await first.stop()
  await watching.printed(/The server is away/)
  const again = await serveHere({ env: { ...env, HTTP_PORT: String(first.port) }, storage: first.storage })
  await say(again, 'two')
  await watching.printed(/"two"/)
  await say(again, 'three')
  await watching.printed(/"three"/)
  const lines = watching.output.stdout.trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line).subject)).toEqual(['one', 'two', 'three'])
  watching.child.kill('SIGINT')
  expect(await watching.gone).toBe(0)
})

verifies('cli.people.light', 'status and the commands by a server load no core and no database', () => {
  const commands = ['agents', 'inbox', 'reading', 'watch', 'writing'].map((name) => `src/doors/cli/people/${name}.ts`)
  for (const entry of [...commands, 'src/app/desk.ts', 'src/doors/people/remote-desk.ts', 'src/app/status.ts']) {
    const { files, libraries } = loadedBy(entry)
    expect([entry, [...files].filter((file) => /\/src\/(core|store|db\/(sqlite|postgres))\//.test(file))]).toEqual([
      entry,
      [],
    ])
    expect([...libraries].filter((name) => /^(zod|pg|fastify|sql-template-tag|node:sqlite)/.test(name))).toEqual([])
  }
})

verifies('cli.people.quick', 'Commands beside the store load neither MCP, nor schemas, nor tables of Unicode', () => {
  const store = ['src/app/open.ts', 'src/app/own-caller.ts', 'src/doors/people/store-desk.ts', 'src/app/other-store.ts']
  const commands = ['agents', 'inbox', 'reading', 'watch', 'writing'].map((name) => `src/doors/cli/people/${name}.ts`)
  for (const entry of [...store, ...commands, 'src/doors/cli/serving/status.ts']) {
    const { files, libraries } = loadedBy(entry)
    // An import of node:http by name loads fetch and WebSocket with it: 30 ms.
    const heavy = [...libraries].filter((name) =>
      /^(zod|pg|fastify|@modelcontextprotocol|string-width|node:http)/.test(name),
    )
    expect([entry, heavy]).toEqual([entry, []])
    expect([...files].filter((file) => /\/src\/doors\/mcp\/(protocol|http|stdio)\//.test(file))).toEqual([])
  }
})
