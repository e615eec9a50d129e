/** `parley archive verify` finds what is amiss, `rebuild` mends it. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { archived, isArchiveAtRest, repositoryOf } from '../support/archive.ts'
import { httpPeer } from '../support/bus.ts'
import { parleyCommand } from '../support/cli.ts'
import { eachEngine } from '../support/engines.ts'
import { newDesk } from '../support/mail.ts'
import { serveHere } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

eachEngine('parley archive', (open, dialect) => {
  /** A server with some of everything in its archive. */
  const begin = async () => {
    const env = { ...archived, DATABASE_URL: (await open()).url }
    const server = await serveHere({ env })
    const desk = await newDesk(server)
    const { project: project_key } = desk
    const { slug } = await desk.door.call<{ slug: string }>('ensure_project', { human_key: project_key })
    for (let n = 0; n < 12; n++) await desk.send({ thread_id: `T-${n % 3}`, bcc: ['RedStone'], body_md: `words ${n}` })
    await desk.reply((await desk.send()).message_id, 'BlueLake')
    await desk.door.call('file_reservation_paths', { project_key, agent_name: 'BlueLake', paths: ['src/**', 'a.ts'] })
    await desk.door.call('release_file_reservations', { project_key, agent_name: 'BlueLake', paths: ['a.ts'] })
    const peer = httpPeer(server, `?agent=Ada&project=${slug}`)
    const topic = await peer.join('Ada', 'standup')
    await peer.send(topic, 'one', 'two')
    const repository = repositoryOf(server.storage, slug)
    const command = (...args: string[]) => parleyCommand(server, ['archive', ...args], { env })
    const verify = async () => {
      const { code, stdout, stderr } = await command('verify', '--json')
      const report = JSON.parse(stdout) as {
        sound: boolean
        waiting: number
        findings: { kind: string; what: string }[]
      }
      return { code, stderr, ...report, kinds: [...new Set(report.findings.map(({ kind }) => kind))].sort() }
    }
    /** Resolves when all is archived. */
    const idle = async () => {
      await expect
        .poll(
          async () =>
            isArchiveAtRest(server.storage) && (await command('verify', '--json')).stdout.includes('"waiting":0'),
          { timeout: 30_000, interval: 200 },
        )
        .toBe(true)
      await repository.sound()
    }
    return { server, env, desk, slug, repository, command, verify, idle }
  }

  if (dialect === 'sqlite')
    verifies(
      'cli.archive.verify',
      'shared mail that another agent took is in the inbox of that one alone',
      async () => {
        const { server, desk, repository, verify, idle } = await begin()
        const { project: project_key } = desk
        const pair = ['BlueLake', 'RedStone']
        for (const name of pair) await desk.door.call('register_agent', { project_key, name, roles: ['reviewer'] })
        const { message_id } = await desk.send({ to: ['any:reviewer'] })
        await idle()
        const copies = async () => (await repository.files()).filter((path) => path.endsWith(`/${message_id}.md`))
        const before = await copies()
        const taker = pair.find((name) => before.every((path) => !path.includes(`${name}/inbox`))) ?? ''
        expect(before).toHaveLength(3)
        await desk.door.call('fetch_inbox', { project_key, agent_name: taker })
        await idle()
        expect(await verify()).toMatchObject({ code: 0, sound: true, findings: [] })
        const inboxes = (await copies()).filter((path) => path.includes('/inbox/'))
        expect(inboxes).toEqual([expect.stringContaining(`agents/${taker}/inbox/`)])
        await server.stop()
      },
    )

  if (dialect === 'sqlite')
    verifies(
      ['mail.archive.rebuilt', 'cli.archive.verify', 'cli.archive.rebuild'],
      'finds each fault, and a rebuild gives the same files as before',
      async () => {
        const { server, slug, repository, command, verify, idle } = await begin()
        await idle()
        expect(await verify()).toMatchObject({ code: 0, sound: true, findings: [] })
        const tree = await repository.tree()
        const [first = ''] = (await repository.files()).filter((path) => path.startsWith('messages/2'))
        const path = join(repository.folder, first)
        const anew = async () => {
          expect(await command('rebuild')).toMatchObject({ code: 0, stderr: '' })
          expect(await verify()).toMatchObject({ code: 0, sound: true, findings: [] })
          expect(await repository.tree()).toBe(tree)
          await repository.sound()
        }

        rmSync(path)
        expect(await verify()).toMatchObject({ code: 1, sound: false, kinds: ['missing'] })
        const { stdout, stderr } = await command('verify')
        expect(stdout).toContain(`missing: ${slug} ${first}`)
        expect(stderr).toContain('parley archive rebuild')
        await anew()

        const text = readFileSync(path)
        text[text.length - 2] = (text.at(-2) ?? 0) ^ 1
        writeFileSync(path, text)
        expect(await verify()).toMatchObject({ code: 1, kinds: ['changed'], findings: [{ what: first }] })
        await anew()

        writeFileSync(join(repository.folder, 'note.txt'), 'mine')
        await repository.git('add', 'note.txt')
        await repository.git('-c', 'user.name=Eve', '-c', 'user.email=eve@example.org', 'commit', '-qm', 'a note')
        expect(await verify()).toMatchObject({ code: 1, kinds: ['extra', 'foreign commit'] })
        await anew()

        const blob = (await repository.git('rev-parse', `main:${first}`)).trim()
        const packs = join(repository.folder, '.git', 'objects', 'pack')
        const aside = join(server.storage, 'aside')
        // Git can lose one object only where it is a file of its own.
        await repository.git('clone', '-q', '--bare', '.', aside)
        for (const name of readdirSync(packs)) rmSync(join(packs, name), { force: true })
        for (const name of readdirSync(join(aside, 'objects', 'pack')).filter((name) => name.endsWith('.pack')))
          await repository.unpack(join(aside, 'objects', 'pack', name))
        rmSync(join(repository.folder, '.git', 'objects', blob.slice(0, 2), blob.slice(2)), { force: true })
        expect(await verify()).toMatchObject({ code: 1, kinds: ['lost object'] })
        await anew()
        await server.stop()
      },
      120_000,
    )

  verifies(
    ['mail.archive.rebuilt', 'mail.archive.gap'],
    'goes on after a rebuild, also with what somebody committed beside it',
    async () => {
      const { server, env, desk, repository, command, verify, idle } = await begin()
      await idle()
      const tree = await repository.tree()
      expect(await command('rebuild')).toMatchObject({ code: 0 })
      expect(await repository.tree()).toBe(tree)
      const { message_id } = await desk.send({ body_md: 'after the rebuild' })
      const has = async (id: number) => (await repository.files()).some((path) => path.endsWith(`/${id}.md`))
      await expect.poll(() => has(message_id), { timeout: 20_000 }).toBe(true)
      await repository.sound()
      await repository.git(
        '-c',
        'user.name=Eve',
        '-c',
        'user.email=eve@example.org',
        'commit',
        '--allow-empty',
        '-qm',
        'beside',
      )
      const next = await desk.send({ body_md: 'after the commit' })
      await expect.poll(() => has(next.message_id), { timeout: 20_000 }).toBe(true)
      await idle()
      expect(await verify()).toMatchObject({ code: 1, kinds: ['foreign commit'] })
      expect(await repository.subjects()).toContain('beside')
      await server.stop()

      // A watermark that is lost: everything is made anew by itself.
      rmSync(join(server.storage, 'projects', '.archive.json'))
      const again = await serveHere({ storage: server.storage, env })
      await expect
        .poll(async () => (await command('verify', '--json')).stdout.includes('"sound":true'), {
          timeout: 30_000,
          interval: 200,
        })
        .toBe(true)
      await again.stop()
    },
    120_000,
  )
})
