/** Attachments in the archive: committed with their mail, compared, and restored by a rebuild. */
import { createHash, randomBytes } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { describe, expect } from 'vitest'
import { archived, isArchiveAtRest, repositoryOf } from '../support/archive.ts'
import { parleyCommand, printedBy } from '../support/cli.ts'
import { eachEngine } from '../support/engines.ts'
import { newDesk, type Receipt } from '../support/mail.ts'
import { type Served, serveHere, shareServer } from '../support/parley.ts'
import { drawing, noise, uriOf } from '../support/pictures.ts'
import { verifies } from '../support/verifies.ts'

type Sent = Receipt & { attachments: { path?: string; original_path?: string; data_uri?: string; uri?: string }[] }

/** A project with three agents, and its repository. */
async function begin(server: Served) {
  const desk = await newDesk(server)
  const { slug } = await desk.door.call<{ slug: string }>('ensure_project', { human_key: desk.project })
  const repository = repositoryOf(server.storage, slug)
  const send = (more: Record<string, unknown>) => desk.send(more) as Promise<Sent>
  const committed = async (path: string) => (await repository.files().catch(() => [] as string[])).includes(path)
  return {
    desk,
    slug,
    repository,
    send,
    /** Resolves when a file is committed. */
    has: (path: string) =>
      expect.poll(() => committed(path), { timeout: 20_000, interval: 100, message: path }).toBe(true),
    files: async () => (await repository.files()).filter((path) => path.startsWith('attachments/')),
    changedIn: async (path: string) => {
      const sha = (await repository.git('log', '--format=%H', '--', path)).trim()
      return (await repository.git('show', '--format=', '--name-only', sha)).trim().split('\n').sort()
    },
    head: async (path: string) => {
      const text = await repository.committed(path)
      return JSON.parse(text.slice('---json\n'.length, text.indexOf('\n---\n'))) as Record<string, unknown>
    },
  }
}

const named = ({ message_id, created_ts }: Sent) => `${created_ts.slice(0, 7).replace('-', '/')}/${message_id}.md`

const sha1 = (bytes: Buffer) => createHash('sha1').update(bytes).digest('hex')

describe('Attachments in the archive', () => {
  const server = shareServer({ env: { ...archived, KEEP_ORIGINAL_IMAGES: 'true' } })

  verifies(
    ['mail.archive.files', 'mail.archive.listed', 'mail.archive.sound'],
    'are files of the commit of their mail, each once, and in its frontmatter',
    async () => {
      const { repository, send, has, files, changedIn, head } = await begin(server())
      const photo = await noise().png().toBuffer()
      const inBody = uriOf('image/png', await drawing().png().toBuffer())
      const beside = uriOf('image/png', await drawing(30, 30).png().toBuffer())
      const notes = randomBytes(700_000)
      const attachment_paths = [uriOf('image/png', photo), uriOf('application/zip', notes), beside]
      const sent = await send({ body_md: `![flow](${inBody})`, attachment_paths })
      const name = named(sent)
      await has(`messages/${name}`)
      const paths = sent.attachments.flatMap(({ path = [], original_path = [] }) => [path, original_path].flat())
      // Two files, and the originals of three images.
      expect(paths).toHaveLength(5)
      expect(paths.filter((path) => path.startsWith('attachments/originals/'))).toHaveLength(3)
      expect(await changedIn(`messages/${name}`)).toEqual(
        [...paths, `messages/${name}`, `agents/GreenCastle/outbox/${name}`, `agents/BlueLake/inbox/${name}`].sort(),
      )
      await repository.sound()
      for (const path of paths) {
        const [, begins, sum] = /\/([0-9a-f]{2})\/([0-9a-f]{40})\.[a-z]+$/.exec(path) ?? []
        expect(sum?.slice(0, 2)).toBe(begins)
        expect(sha1(readFileSync(join(repository.folder, path)))).toBe(sum)
      }
      expect(paths.map((path) => path.slice(-45, -4))).toContain(`/${sha1(notes)}`)
      // As messages show them; but an image that stands in the body is not repeated.
      const shown = sent.attachments.map(({ uri, ...one }) => {
        if (one.data_uri === undefined || one.original_path !== `attachments/originals/${originalOf(inBody)}`)
          return one
        const { data_uri: _, ...rest } = one
        return { ...rest, data_omitted: true }
      })
      expect(shown.filter((one) => 'data_omitted' in one)).toHaveLength(1)
      expect(shown.filter((one) => 'data_uri' in one)).toHaveLength(1)
      for (const folder of ['messages', 'agents/GreenCastle/outbox', 'agents/BlueLake/inbox'])
        expect((await head(`${folder}/${name}`)).attachments).toEqual(shown)

      const again = await send({ attachment_paths })
      await has(`messages/${named(again)}`)
      expect((await changedIn(`messages/${named(again)}`)).filter((path) => path.startsWith('attachments/'))).toEqual(
        [],
      )
      expect((await files()).sort()).toEqual([...paths].sort())
      await repository.sound()
    },
    60_000,
  )

  verifies(
    ['mail.archive.files', 'mail.archive.blind-files'],
    'are beside every copy of their mail, and tell nobody of a blind copy elsewhere',
    async () => {
      const [here, open, blind, other] = await Promise.all([1, 2, 3, 4].map(() => begin(server())))
      if (!here || !open || !blind || !other) throw new Error('four projects')
      for (const { desk } of [open, blind])
        await desk.door.call('set_contact_policy', {
          project_key: desk.project,
          agent_name: 'RedStone',
          policy: 'open',
        })
      const sent = await here.send({
        to: [`RedStone@${open.slug}`],
        bcc: [`RedStone@${blind.slug}`],
        attachment_paths: [uriOf('application/zip', randomBytes(9000))],
      })
      const [path = ''] = sent.attachments.map(({ path }) => path ?? '')
      const copy = `agents/RedStone/inbox/${named(sent)}`
      for (const { has } of [here, open, blind]) await has(path)
      expect(await here.changedIn(path)).toEqual(
        [path, `agents/GreenCastle/outbox/${named(sent)}`, `messages/${named(sent)}`].sort(),
      )
      for (const { changedIn } of [open, blind]) expect(await changedIn(path)).toEqual([path, copy].sort())
      await other.has('agents/RedStone/profile.json')
      expect(await other.files()).toEqual([])
      // Files that others may read name neither the blind copy nor its project.
      const log = await open.repository.git('log', '-p', '--format=%B', '--', 'messages', 'agents/RedStone/inbox')
      expect(log).toContain(path)
      expect(log).not.toContain(blind.slug)
      expect(JSON.stringify(await here.head(`messages/${named(sent)}`))).not.toContain(blind.slug)
      const shown = await blind.desk.resource<{ messages: { id: number; commit: null }[] }>('mailbox/RedStone')
      expect(shown.messages).toMatchObject([{ id: sent.message_id, commit: null }])
    },
    60_000,
  )
})

/** The path of an original behind its folder. */
function originalOf(uri: string): string {
  const sum = sha1(Buffer.from(uri.slice(uri.indexOf(',') + 1), 'base64'))
  return `${sum.slice(0, 2)}/${sum}.png`
}

eachEngine('parley archive, with attachments', (openEngine, dialect) => {
  verifies(
    ['mail.archive.images', 'mail.archive.shared', 'mail.archive.rebuilt'],
    'shows images from where each file stands, in both projects of a thread',
    async () => {
      const env = { ...archived, DATABASE_URL: (await openEngine()).url }
      const server = await serveHere({ env })
      const [here, there] = await Promise.all([begin(server), begin(server)])
      const policy = { project_key: there.desk.project, agent_name: 'RedStone', policy: 'open' }
      await there.desk.door.call('set_contact_policy', policy)
      const picture = uriOf('image/png', await noise().png().toBuffer())
      const body_md = `Look: ![a photo](${picture})\n\n\`![code](attachments/x.webp)\` ![gone](docs/gone.png)`
      const sent = await here.send({ to: [`RedStone@${there.slug}`], thread_id: 'shared', body_md })
      // An image in the message itself, longer than a digest shows of it.
      const small = uriOf('image/png', await noise(60, 60).png().toBuffer())
      const last = await here.send({
        to: [`RedStone@${there.slug}`],
        thread_id: 'shared',
        body_md: `![small](${small}) end`,
      })
      const [path = ''] = sent.attachments.map(({ path }) => path ?? '')
      const copies = [
        [here, `messages/${named(sent)}`],
        [here, `agents/GreenCastle/outbox/${named(sent)}`],
        [there, `agents/RedStone/inbox/${named(sent)}`],
        [here, 'messages/threads/shared.md'],
        [there, 'messages/threads/shared.md'],
      ] as const
      await here.has(`messages/${named(last)}`)
      await there.has(`agents/RedStone/inbox/${named(last)}`)
      for (const [{ repository, has }, file] of copies) {
        await has(file)
        await has(path)
        const text = () => repository.committed(file)
        if (file.includes('threads')) await expect.poll(text, { timeout: 20_000 }).toContain('more characters')
        const [, link = ''] = /!\[a photo\]\(([^)]+)\)/.exec(await text()) ?? []
        expect(posix.join(dirname(file), link), file).toBe(path)
        expect(await text()).toContain('`![code](attachments/x.webp)` ![gone](docs/gone.png)')
        if (file.includes('threads')) expect(await text()).not.toContain('data:image')
      }
      const commands = [
        ['archive', 'verify'],
        ['archive', 'rebuild'],
        ['archive', 'verify'],
      ]
      for (const command of commands) await printedBy(server, command, { env })
      await server.stop()
    },
    60_000,
  )

  // The faults are in the files; the test above has compared and rebuilt them on both engines.
  if (dialect === 'postgres') return

  verifies(
    ['cli.archive.files', 'mail.archive.rebuilt'],
    'finds what is amiss with them, and restores them',
    async () => {
      const env = { ...archived, DATABASE_URL: (await openEngine()).url }
      const server = await serveHere({ env })
      const { repository, send, has } = await begin(server)
      const large = randomBytes(1_500_000)
      const sent = await send({
        attachment_paths: [uriOf('application/zip', large), uriOf('text/plain', Buffer.alloc(300_000, 'words\n'))],
      })
      const [path = '', second = ''] = sent.attachments.map(({ path }) => path ?? '')
      await has(path)
      // Others of the same file: it is compared once.
      const last = await send({ attachment_paths: [uriOf('application/zip', large)] })
      await has(`messages/${named(last)}`)
      await repository.sound()
      const command = (...args: string[]) => parleyCommand(server, ['archive', ...args], { env })
      const verify = async () => {
        const { code, stdout } = await command('verify', '--json')
        return { code, ...(JSON.parse(stdout) as { waiting: number; findings: { kind: string; what: string }[] }) }
      }
      const waiting = async () => (isArchiveAtRest(server.storage) ? (await verify()).waiting : undefined)
      await expect.poll(waiting, { timeout: 20_000, interval: 200 }).toBe(0)
      const tree = await repository.tree()
      const file = join(repository.folder, path)
      const anew = async () => {
        expect(await command('rebuild')).toMatchObject({ code: 0, stderr: '' })
        expect(await verify()).toMatchObject({ code: 0, findings: [] })
        expect(await repository.tree()).toBe(tree)
        expect(readFileSync(file).equals(large)).toBe(true)
        await repository.sound()
      }
      expect(await verify()).toMatchObject({ code: 0, findings: [] })

      rmSync(file)
      expect(await verify()).toMatchObject({ code: 1, findings: [{ kind: 'missing', what: path }] })
      await anew()

      const bytes = readFileSync(file)
      bytes[1_000_000] = (bytes[1_000_000] ?? 0) ^ 1
      writeFileSync(file, bytes)
      expect(await verify()).toMatchObject({ code: 1, findings: [{ kind: 'changed', what: path }] })
      await anew()

      writeFileSync(join(repository.folder, 'attachments', 'mine.txt'), 'mine')
      const untracked = { kind: 'extra', what: 'attachments/mine.txt' }
      expect(await verify()).toMatchObject({ code: 1, findings: [untracked] })
      await anew()

      await repository.git('rm', '-q', second)
      writeFileSync(file, bytes)
      await repository.git('add', path)
      await repository.git('-c', 'user.name=Eve', '-c', 'user.email=eve@example.org', 'commit', '-qm', 'other bytes')
      const { findings } = await verify()
      expect(findings.map(({ kind, what }) => `${kind} ${what}`)).toEqual([
        `changed ${path}`,
        `missing ${second}`,
        expect.stringMatching(/^foreign commit [0-9a-f]{40}$/),
      ])
      await anew()
      await server.stop()
    },
    120_000,
  )
})
