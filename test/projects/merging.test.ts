/** `parley projects`: two projects become one with all that hangs on them, or nothing happens. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import sql, { raw } from 'sql-template-tag'
import { expect } from 'vitest'
import { local } from '../../src/core/access/callers.ts'
import { mergeProjects } from '../../src/core/transfers/merging.ts'
import { openDb } from '../../src/db/open.ts'
import type { Db, Reader, Tx } from '../../src/db/port.ts'
import { projectsCommand } from '../../src/doors/cli/operating/projects.ts'
import { listTables } from '../../src/store/exports/tables.ts'
import { archived, repositoryOf } from '../support/archive.ts'
import { parleyCommand, parleyProcess } from '../support/cli.ts'
import { eachEngine } from '../support/engines.ts'
import { openTestHub } from '../support/hub.ts'
import { correspond, type Message, type Page, plainMail } from '../support/mail.ts'
import { bareEnv, serveHere, spawnParley, temporaryFolder } from '../support/parley.ts'
import { testScreen } from '../support/screen.ts'
import { allRows } from '../support/stored-rows.ts'
import { verifies } from '../support/verifies.ts'

const [old, kept, third] = ['/srv/merging/old', '/srv/merging/kept', '/srv/merging/third']

/** Every column that names an agent or a project. */
const references: Readonly<Record<string, string>> = {
  project_id: 'projects',
  ...Object.fromEntries(
    ['agent_id', 'sender_id', 'recipient_id', 'granter_id', 'low_id', 'high_id'].map((column) => [column, 'agents']),
  ),
}

/** References to rows that are not there, in tables without foreign keys too. */
async function orphans(db: Reader): Promise<string[]> {
  const found: string[] = []
  for (const table of await listTables(db)) {
    const [row] = await db.all<Record<string, unknown>>(sql`SELECT * FROM ${raw(table)} LIMIT 1`)
    for (const column of Object.keys(row ?? {})) {
      const of = references[column]
      if (of === undefined) continue
      const [lost] = await db.all(sql`
        SELECT 1 AS one FROM ${raw(table)} t WHERE t.${raw(column)} IS NOT NULL AND t.${raw(column)} <> 0
          AND NOT EXISTS (SELECT 1 FROM ${raw(of)} o WHERE o.id = t.${raw(column)}) LIMIT 1`)
      if (lost !== undefined) found.push(`${table}.${column}`)
    }
  }
  return found
}

eachEngine('Projects', (open) => {
  async function start(more: Record<string, string> = {}) {
    const database = await open({ fresh: true })
    const storage = await temporaryFolder()
    const env = { DATABASE_URL: database.url, ...more }
    const run = (...args: string[]) => parleyCommand({ storage }, ['projects', ...args], { env })
    return { database, storage, env, run, serve: () => serveHere({ storage, env }) }
  }

  /** GreenCastle is in both; they write within each, across, to both of the name, and in topics of one name. */
  async function furnish(server: { url: string }) {
    const mail = plainMail(server)
    const { people, send } = correspond(() => mail)
    await people(old, 'GreenCastle', 'BlueLake')
    await people(kept, 'GreenCastle', 'RedStone')
    await people(third, 'WhiteRiver')
    for (const [project_key, agent_name] of [
      [old, 'GreenCastle'],
      [kept, 'GreenCastle'],
      [kept, 'RedStone'],
    ] as const)
      await mail.call('set_contact_policy', { project_key, agent_name, policy: 'open' })
    await send(old, 'BlueLake', ['GreenCastle'], { thread_id: 'T-1', body_md: 'walrus of old' })
    await send(kept, 'RedStone', ['GreenCastle'], { thread_id: 'T-1', body_md: 'heron of kept' })
    await send(kept, 'GreenCastle', ['RedStone'], { thread_id: 'T-2', body_md: 'answer of kept' })
    await send(old, 'GreenCastle', ['BlueLake', `RedStone@${kept}`], { thread_id: 'T-3', body_md: 'across both' })
    await send(third, 'WhiteRiver', [`GreenCastle@${old}`, `GreenCastle@${kept}`], { body_md: 'to both of the name' })
    for (const [project_key, agent_name] of [
      [old, 'GreenCastle'],
      [kept, 'GreenCastle'],
    ] as const)
      await mail.call('file_reservation_paths', { project_key, agent_name, paths: [`${project_key.slice(-3)}/**`] })
    for (const project of [old, kept])
      for (const name of ['plans', project.slice(-3)]) {
        const bus = `${server.url}/bus/mcp?agent=peer&project=${encodeURIComponent(project)}`
        await plainMail({ url: bus }, '').call('topic_create', { name })
      }
    return mail
  }

  verifies(
    ['cli.projects.merge', 'cli.projects.figures'],
    'become one, with agents, threads, mail, reservations and topics',
    async () => {
      const { database, run, serve, storage, env } = await start(archived)
      const first = await serve()
      await furnish(first)
      await first.stop()
      const listed = JSON.parse((await run('list', '--json')).stdout).projects as { slug: string; human_key: string }[]
      const slugs = new Map(listed.map(({ human_key, slug }) => [human_key, slug]))
      expect(listed.find(({ human_key }) => human_key === old)).toMatchObject({ agents: 2, threads: 4, leases: 1 })
      expect((await run('list')).stdout).toMatch(/^slug\tkey\tagents\tthreads\tmessages\treservations\tcreated\n/)

      const dry = await run('merge', old, kept, '--dry-run')
      expect(dry).toMatchObject({ code: 0, stderr: '' })
      expect(dry.stdout).toContain('one agent of two: GreenCastle')
      expect(dry.stdout).toContain('renamed, because both have it: T-1 → T-1-2')
      expect(dry.stdout).toContain('renamed, because both have it: plans → plans-2')

      expect(await run('merge', old, kept, '--force')).toMatchObject({ code: 0 })
      const db = await database.connect()
      expect(await orphans(db)).toEqual([])
      const [unread] = await db.all(sql`
        SELECT 1 AS one FROM agents a
        WHERE a.unread <> (SELECT COUNT(*) FROM deliveries d WHERE d.recipient_id = a.id AND d.read_at IS NULL)`)
      expect(unread).toBeUndefined()
      await db.close()

      const second = await serve()
      const mail = plainMail(second)
      const names = await mail.call<{ name: string }[]>('list_agents', { project_key: kept })
      expect(names.map(({ name }) => name).sort()).toEqual(['BlueLake', 'GreenCastle', 'RedStone'])
      // The old key and the old slug mean the one that is left; nothing is made for them.
      for (const project_key of [old, `${old}/`, slugs.get(old)]) {
        const inbox = await mail.call<Message[]>('fetch_inbox', {
          project_key,
          agent_name: 'GreenCastle',
          include_bodies: true,
        })
        expect(inbox.map(({ body_md }) => body_md).sort()).toEqual([
          'heron of kept',
          'to both of the name',
          'walrus of old',
        ])
      }
      const page = await mail.read<Page>(
        `resource://thread/T-1-2?project=${encodeURIComponent(kept)}&include_bodies=true`,
      )
      expect(page.messages.map(({ body_md }) => body_md)).toEqual(['walrus of old'])
      for (const [query, count] of [
        ['walrus', 1],
        ['heron', 1],
        ['across', 1],
      ] as const)
        expect(await mail.call('search_messages', { project_key: kept, query })).toHaveLength(count)
      const held = await mail.read<object[]>(
        `resource://file_reservations/${encodeURIComponent(kept)}?active_only=true`,
      )
      expect(held).toMatchObject([{ agent: 'GreenCastle' }, { agent: 'GreenCastle' }])
      const more = await correspond(() => mail).send(kept, 'BlueLake', ['GreenCastle'], { thread_id: 'T-1-2' })
      expect(more.thread_id).toBe('T-1-2')

      // The archive follows: one repository, in which everything is.
      await expect
        .poll(
          () =>
            readdirSync(join(storage, 'projects'))
              .filter((name) => !name.startsWith('.'))
              .sort(),
          {
            timeout: 20_000,
          },
        )
        .toEqual([slugs.get(third), slugs.get(kept)].sort())
      const repository = repositoryOf(storage, slugs.get(kept) ?? '')
      await expect.poll(async () => (await repository.files()).join('\n'), { timeout: 20_000 }).toContain('BlueLake')
      await second.stop()
      expect(await parleyCommand({ storage }, ['archive', 'verify'], { env })).toMatchObject({ code: 0 })
    },
  )

  verifies('cli.projects.merge-asks', 'are not merged unasked, nor beside a server', async () => {
    const { run, serve, database } = await start()
    const server = await serve()
    await furnish(server)
    expect(await run('merge', old, kept, '--dry-run', '--json')).toMatchObject({ code: 0 })
    expect(await run('merge', old, kept, '--force')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/Another process has .* open\.\nNothing was changed\. Stop `parley serve`/),
    })
    await server.stop()
    const before = await allRows(database.url)
    const unasked = await run('merge', old, kept)
    expect(unasked).toMatchObject({ code: 2, stdout: '' })
    expect(unasked.stderr).toContain('one agent of two: GreenCastle')
    expect(unasked.stderr).toMatch(/cannot be undone\.\nNothing was merged\. Pass --force to do it\.\n$/)
    for (const [args, says] of [
      [[old, `${old}/.`], 'Both names mean one project'],
      [['commons', kept], 'The project commons is there for all who name none'],
      [['/srv/merging/odl', kept], 'There is no project "/srv/merging/odl"'],
    ] as const)
      expect(await run('merge', ...args, '--force')).toMatchObject({ code: 1, stderr: expect.stringContaining(says) })
    // The next step is told once.
    expect((await run('merge', 'odl', kept, '--force')).stderr.match(/lists all projects/g)).toHaveLength(1)
    expect(await allRows(database.url)).toEqual(before)
  })

  verifies('cli.projects.merge-keys', 'with two owners of one name are refused, until one key is gone', async () => {
    const { run, serve, database, storage, env } = await start()
    const server = await serve()
    await furnish(server)
    await server.stop()
    const keys = (...args: string[]) => parleyCommand({ storage }, ['keys', ...args], { env })
    for (const project of [old, kept])
      expect(await keys('create', 'GreenCastle', '--project', project)).toMatchObject({ code: 0 })
    const before = await allRows(database.url)
    const refused = await run('merge', old, kept, '--force')
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toMatch(
      /In both projects GreenCastle holds a key\.\nNothing was merged\..*parley keys revoke GreenCastle --project old-/s,
    )
    expect(await allRows(database.url)).toEqual(before)
    expect(await keys('revoke', 'GreenCastle', '--project', old)).toMatchObject({ code: 0 })
    expect(await run('merge', old, kept, '--force')).toMatchObject({ code: 0 })
    const { agents = [], agent_keys = [] } = await allRows(database.url)
    const [one, ...others] = agents.filter(({ name_key }) => name_key === 'greencastle')
    expect(others).toEqual([])
    expect(one).toMatchObject({ keyed: 1 })
    expect(agent_keys).toMatchObject([{ agent_id: one?.id }])
  })

  verifies('cli.projects.rename', 'get another key and keep their slug', async () => {
    const { run, serve } = await start()
    const server = await serve()
    await furnish(server)
    await server.stop()
    const moved = '/srv/merging/moved'
    const renamed = JSON.parse((await run('rename', old, `${moved}/.`, '--json')).stdout)
    expect(renamed).toMatchObject({ human_key: moved, slug: expect.stringMatching(/^old-/) })
    for (const [args, says] of [
      [[moved, kept], `${kept} is the project kept-`],
      [[moved, 'moved'], 'The key of a project is an absolute path'],
    ] as const)
      expect(await run('rename', ...args)).toMatchObject({ code: 1, stderr: expect.stringContaining(says) })
    const again = await serve()
    const mail = plainMail(again)
    for (const project_key of [moved, renamed.slug])
      expect(await mail.call('fetch_inbox', { project_key, agent_name: 'GreenCastle' })).toHaveLength(2)
    await expect(mail.call('fetch_inbox', { project_key: old, agent_name: 'GreenCastle' })).rejects.toMatchObject({
      code: 'PROJECT_NOT_FOUND',
    })
    await again.stop()
  })

  verifies('cli.projects.merge-whole', 'stay two where any statement of the merge is the last', async () => {
    const { database, serve } = await start()
    const server = await serve()
    await furnish(server)
    await server.stop()
    const before = await allRows(database.url)
    const db = await database.connect()
    /** Throws instead of the nth statement. */
    const dyingAt = (last: number): Db => {
      let count = 0
      const counted = (tx: Tx) =>
        new Proxy(tx, {
          get(target, name) {
            const value: unknown = Reflect.get(target, name)
            if (typeof value !== 'function') return value
            return (...args: unknown[]) => {
              if (name === 'all' && ++count === last) throw new Error('died')
              return value.apply(target, args)
            }
          },
        })
      const tx: Db['tx'] = (work, options) => db.tx((inner) => work(counted(inner)), options)
      return new Proxy(db, {
        get(target, name) {
          if (name === 'tx') return tx
          const value: unknown = Reflect.get(target, name)
          return typeof value === 'function' ? value.bind(target) : value
        },
      })
    }
    let died = 0
    for (let last = 3; ; last += 9) {
      const hub = await openTestHub(dyingAt(last))
      const merged = await mergeProjects(hub, local, old, kept).catch((error: Error) => error)
      if (!(merged instanceof Error)) break
      died++
      expect(await allRows(database.url)).toEqual(before)
    }
    expect(died).toBeGreaterThan(5)
    expect(await orphans(db)).toEqual([])
    await db.close()
  })
})

verifies('cli.projects.merge-whole', 'A merge whose process is killed has happened whole or not at all', async () => {
  const parley = await serveHere()
  const { people, send } = correspond(() => plainMail(parley))
  await people(old, 'GreenCastle', 'BlueLake')
  await people(kept, 'GreenCastle')
  for (let n = 0; n < 150; n++)
    await send(old, 'BlueLake', ['GreenCastle'], { thread_id: `K-${n % 7}`, body_md: String(n) })
  await parley.stop()
  const url = `sqlite:${join(parley.storage, 'parley.sqlite3')}`
  const before = await allRows(url)
  const began = performance.now()
  await parleyProcess(parley, ['projects', 'merge', old, kept, '--dry-run'])
  const whole = performance.now() - began
  for (let part = 0; part < 4; part++) {
    const { child, gone } = spawnParley(['projects', 'merge', old, kept, '--force'], bareEnv(parley.storage))
    const timer = setTimeout(() => child.kill('SIGKILL'), whole * (0.7 + part * 0.15))
    await gone
    clearTimeout(timer)
    const after = await allRows(url)
    if (after.projects?.length === before.projects?.length) expect(after).toEqual(before)
    else {
      expect(after.messages).toHaveLength(before.messages?.length ?? 0)
      const db = await openDb(url)
      expect(await orphans(db)).toEqual([])
      await db.close()
      return
    }
  }
})

verifies('cli.projects.merge-asks', 'a person who types anything but yes keeps both projects', async () => {
  const parley = await serveHere()
  const { people } = correspond(() => plainMail(parley))
  await people(old, 'GreenCastle')
  await people(kept, 'GreenCastle')
  await parley.stop()
  const { openStore } = await import('../../src/app/open.ts')
  const { loadConfig } = await import('../../src/settings/read.ts')
  const config = loadConfig({ STORAGE_ROOT: parley.storage, LOG_LEVEL: 'silent' })
  for (const [answer, merged] of [
    ['no', false],
    ['', false],
    ['Yes ', true],
  ] as const) {
    const { screen } = testScreen({ tty: true })
    const asked = { ...screen, input: { ...screen.input, ask: async () => answer } }
    const run = projectsCommand(
      () => openStore(config),
      async () => {},
      asked,
    ).parseAsync(['merge', old, kept], {
      from: 'user',
    })
    if (merged) await run
    else await expect(run).rejects.toThrow('Nothing was merged.')
  }
})
