/** `parley export` and `parley import`: a project leaves one hub and comes to another as it was. */
import { existsSync } from 'node:fs'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { parleyCommand } from '../support/cli.ts'
import { eachEngine } from '../support/engines.ts'
import { type Message, newDesk, plainMail } from '../support/mail.ts'
import { mailbox, serveHere, temporaryFolder } from '../support/parley.ts'
import { allRows } from '../support/stored-rows.ts'
import { verifies } from '../support/verifies.ts'

interface ThreadPage {
  messages: Message[]
}

/** A message without what another hub numbers in its own way. */
const same = ({ id: _, thread_id, ...rest }: Message) => ({
  ...rest,
  thread: thread_id?.startsWith('T-') ? thread_id : '',
})

async function furnish(server: { url: string }) {
  const desk = await newDesk(server)
  const { message_id } = await desk.send({ thread_id: 'T-1', ack_required: true, body_md: 'first *word* 🦜' })
  const nameless = await desk.send({ subject: 'nameless', cc: ['RedStone'], importance: 'high' })
  await desk.reply(nameless.message_id, 'BlueLake')
  await desk.reply(message_id, 'BlueLake', { body_md: 'answer' })
  await desk.send({ thread_id: 'T-1', bcc: ['RedStone'], body_md: 'with a secret reader' })
  await desk.sign('acknowledge_message', 'BlueLake', message_id)
  await desk.door.call('register_agent', {
    project_key: '/srv/elsewhere',
    program: 'p',
    model: 'm',
    name: 'WhiteRiver',
  })
  const away = { project_key: '/srv/elsewhere', agent_name: 'WhiteRiver' }
  await desk.door.call('set_contact_policy', { ...away, policy: 'open' })
  await desk.send({ thread_id: 'T-2', to: ['WhiteRiver@/srv/elsewhere'], body_md: 'across' })
  return desk
}

eachEngine('An export', (open) => {
  async function start() {
    const database = await open()
    const storage = await temporaryFolder()
    const env = { DATABASE_URL: database.url }
    const server = await serveHere({ storage, env })
    const run = (...args: string[]) => parleyCommand({ storage }, args, { env })
    return { database, storage, env, server, run }
  }

  /** A project in a file, and the rows that it was exported from; no server runs any more. */
  async function exported() {
    const { database, storage, server, run } = await start()
    const desk = await furnish(server)
    const file = join(storage, 'project.jsonl')
    await run('export', desk.project, '--format', 'json', '--output', file)
    await server.stop()
    return { database, run, file, before: await allRows(database.url) }
  }

  verifies('cli.import.same', 'of a project is the same project in another hub', async () => {
    const [here, there] = [await start(), await start()]
    // Numbers differ there.
    await mailbox(there.server, 'alice').send('bob', 'x')
    const desk = await furnish(here.server)
    const file = join(here.storage, 'project.jsonl')
    const exported = await here.run('export', desk.project, '--format', 'json', '--output', file)
    expect(exported).toMatchObject({ code: 0, stdout: `Wrote 6 messages in 3 threads to ${file}.\n` })
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const imported = await there.run('import', file, '--json')
    expect(imported).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(imported.stdout)).toMatchObject({ human_key: desk.project, agents: 4, threads: 3, messages: 6 })
    const far = plainMail(there.server)
    const at = `?project=${encodeURIComponent(desk.project)}&include_bodies=true`
    for (const thread of ['T-1', 'T-2']) {
      const [one, other] = [
        await desk.door.read<ThreadPage>(`resource://thread/${thread}${at}`),
        await far.read<ThreadPage>(`resource://thread/${thread}${at}`),
      ]
      expect(one.messages.length).toBeGreaterThan(0)
      expect(other.messages.map(same)).toEqual(one.messages.map(same))
    }
    for (const agent of ['GreenCastle', 'BlueLake', 'RedStone']) {
      const inbox = { project_key: desk.project, agent_name: agent, include_bodies: true, limit: 50 }
      const [one, other] = [
        await desk.door.call<Message[]>('fetch_inbox', inbox),
        await far.call<Message[]>('fetch_inbox', inbox),
      ]
      expect(other.map(same)).toEqual(one.map(same))
    }
    // A thread without a name goes by its first message here as well.
    const [begun] = (
      await far.call<Message[]>('fetch_inbox', { project_key: desk.project, agent_name: 'RedStone' })
    ).filter(({ subject }) => subject === 'nameless')
    const nameless = await far.read<ThreadPage>(`resource://thread/${begun?.id}${at}`)
    expect(nameless.messages.map(({ from }) => from)).toEqual(['GreenCastle', 'BlueLake'])
    const query = { project_key: desk.project, query: 'answer OR secret' }
    const found = (door: typeof far) => door.call<Message[]>('search_messages', query)
    expect((await found(far)).map(({ from }) => from).sort()).toEqual(
      (await found(desk.door)).map(({ from }) => from).sort(),
    )
    // It goes on as any other mail.
    await far.call('send_message', {
      project_key: desk.project,
      sender_name: 'BlueLake',
      to: ['GreenCastle'],
      subject: 'on',
      body_md: 'on',
      thread_id: 'T-1',
    })
    expect((await far.read<ThreadPage>(`resource://thread/T-1${at}`)).messages).toHaveLength(4)
    await here.server.stop()
    await there.server.stop()
  })

  verifies('cli.import.careful', 'goes into a project that is there only as it was told to', async () => {
    const { database, run, file, before } = await exported()
    const refused = await run('import', file)
    expect(refused).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/already\.\n.*--into.*--force/),
    })
    expect(await allRows(database.url)).toEqual(before)
    expect(await run('import', file, '--into', '/srv/copy')).toMatchObject({ code: 0 })
    const added = await run('import', file, '--force', '--json')
    expect(added).toMatchObject({ code: 0 })
    expect(JSON.parse(added.stdout)).toMatchObject({
      agents: 0,
      renamed: [
        { from: 'T-1', to: 'T-1-2' },
        { from: 'T-2', to: 'T-2-2' },
      ],
    })
    const { messages = [], agents = [], deliveries = [] } = await allRows(database.url)
    expect(messages).toHaveLength(3 * (before.messages?.length ?? 0))
    for (const { id, unread } of agents)
      expect(unread).toBe(
        deliveries.filter(({ recipient_id, read_at }) => recipient_id === id && read_at === null).length,
      )
  })

  verifies(
    ['cli.import.names', 'all.names.lookalikes'],
    'with names that no door would take is refused whole',
    async () => {
      const { database, run, file, before } = await exported()
      const text = await readFile(file, 'utf8')
      const called = (name: string) => text.replaceAll('"RedStone"', JSON.stringify(name))
      const agent = text.split('\n').find((line) => line.includes('"agent"') && line.includes('RedStone')) ?? ''
      const cases: Record<string, [text: string, why: string]> = {
        reserved: [called('human-overseer'), 'the name of people'],
        'looks reserved': [called('HurnanOverseer'), 'looks like'],
        'a control character': [called('Red\u0007Stone'), 'control characters'],
        'an invisible character': [called('Red\u200bStone'), 'invisible characters'],
        'mixed scripts': [called('R\u0435dStone'), 'different scripts'],
        'spaces around it': [called(' RedStone '), 'spaces around it'],
        'a look-alike in the same file': [called('B1ueLake'), 'looks like'],
        'an unknown sender': [
          text.replaceAll('"from":{"name":"GreenCastle"}', '"from":{"name":"BrownFox"}'),
          'no agent "BrownFox"',
        ],
        'a missing agent': [text.replace(`${agent}\n`, ''), 'no agent "RedStone"'],
      }
      for (const [name, [bad, why]] of Object.entries(cases)) {
        expect(bad, name).not.toBe(text)
        await writeFile(file, bad)
        const outcome = await run('import', file, '--into', '/srv/other')
        expect({ name, ...outcome }).toMatchObject({ name, code: 1, stdout: '' })
        expect(outcome.stderr).toContain(why)
        expect(await allRows(database.url)).toEqual(before)
      }
    },
  )

  verifies('cli.import.whole', 'that is damaged anywhere leaves nothing behind', async () => {
    const { database, run, file, before } = await exported()
    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
    const cases = {
      'cut off': lines.slice(0, -1),
      'cut in a line': [...lines.slice(0, -2), lines.at(-2)?.slice(0, 30) ?? ''],
      'a message is missing': lines.filter((line) => !line.includes('with a secret reader')),
      'a thread is missing': lines.filter((line) => !line.includes('"thread_id":"T-1"')),
      'no beginning': lines.slice(1),
      'no JSON': ['hello'],
      nothing: [],
    }
    for (const [name, bad] of Object.entries(cases)) {
      await writeFile(file, `${bad.join('\n')}\n`)
      const outcome = await run('import', file, '--into', '/srv/other')
      expect({ name, ...outcome }).toMatchObject({ name, code: 1, stdout: '' })
      expect(outcome.stderr).toContain('Nothing was imported.')
      expect(await allRows(database.url)).toEqual(before)
    }
  })
})

verifies(
  'cli.export.pages',
  'a page has every message but no blind copy, and one thread can be asked for',
  async () => {
    const storage = await temporaryFolder()
    const server = await serveHere({ storage })
    const desk = await furnish(server)
    const run = (...args: string[]) => parleyCommand({ storage }, args)
    expect(await run('export', 'nowhere', '--output', join(storage, 'none.md'))).toMatchObject({ code: 1 })
    expect(existsSync(join(storage, 'none.md'))).toBe(false)
    const page = await run('export', desk.project)
    expect(page).toMatchObject({ code: 0, stderr: '' })
    for (const text of ['# ', '## T-1', 'first *word* 🦜', '> answer', 'across', 'BlueLake (acknowledged)'])
      expect(page.stdout).toContain(text)
    const secret = page.stdout.split('### ').find((part) => part.includes('with a secret reader'))
    expect(secret).toContain('to BlueLake')
    expect(secret).not.toContain('RedStone')
    const one = await run('export', desk.project, '--thread', 'T-2', '--format', 'json')
    const lines = one.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.at(0)).toMatchObject({ parley_export: 1, thread: 'T-2' })
    expect(lines.at(-1)).toEqual({ end: { agents: 3, threads: 1, messages: 1 } })
    expect(lines.filter((line) => 'message' in line)).toMatchObject([
      { message: { body_md: 'across', from: { name: 'GreenCastle' } } },
    ])
    expect(await run('export', desk.project, '--thread', 'T-9')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no thread'),
    })
    expect(await run('export', 'nowhere')).toMatchObject({ code: 1, stdout: '' })
    const file = join(storage, 'page.md')
    await writeFile(file, 'mine')
    expect(await run('export', desk.project, '--output', file)).toMatchObject({ code: 1 })
    expect(await readFile(file, 'utf8')).toBe('mine')
    expect(existsSync(file)).toBe(true)
    await server.stop()
  },
)
