/** The files and commits of the archive, as people read them. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { archived, repositoryOf } from '../support/archive.ts'
import { httpPeer } from '../support/bus.ts'
import { printedBy } from '../support/cli.ts'
import { newDesk, plainMail } from '../support/mail.ts'
import { mailbox, shareServer } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const author = { GIT_AUTHOR_NAME: 'Archivist', GIT_AUTHOR_EMAIL: 'archivist@example.org' }

/** As the frontmatter and the text after it. */
function parsed(text: string): { head: Record<string, unknown>; body: string } {
  const [, head = '', body = ''] = /^---json\n(\{\n[\s\S]*?\n\})\n---\n\n([\s\S]*)$/.exec(text) ?? []
  return { head: JSON.parse(head) as Record<string, unknown>, body }
}

describe('The archive', () => {
  const server = shareServer({ env: { ...archived, ...author } })

  /** A project with three agents, and its repository. */
  const begin = async () => {
    const desk = await newDesk(server())
    const { slug } = await desk.door.call<{ slug: string }>('ensure_project', { human_key: desk.project })
    const repository = repositoryOf(server().storage, slug)
    /** Resolves when the file is committed and in the folder; returns it. */
    const file = async (path: string | RegExp) => {
      const find = async () =>
        (await repository.files().catch(() => [])).find((name) =>
          typeof path === 'string' ? name === path : path.test(name),
        )
      await expect.poll(find, { timeout: 20_000, interval: 100, message: String(path) }).toBeDefined()
      const found = (await find()) ?? ''
      await expect
        .poll(
          () => {
            try {
              return repository.read(found)
            } catch {
              return ''
            }
          },
          { timeout: 20_000, interval: 100 },
        )
        .toBe(await repository.committed(found))
      return { path: found, text: repository.read(found) }
    }
    const gone = (path: string) =>
      expect.poll(async () => (await repository.files()).includes(path), { timeout: 20_000, interval: 100 }).toBe(false)
    return { desk, slug, repository, file, gone }
  }
  const month = (created: string) => created.slice(0, 7).replace('-', '/')

  verifies(
    ['mail.archive.layout', 'mail.archive.message', 'mail.archive.commits', 'mail.archive.bcc', 'mail.archive.sound'],
    'has a mail as canonical file, outbox and inbox copies in one commit, blind copies where they may be',
    async () => {
      const { desk, slug, repository, file } = await begin()
      const { project, door } = desk
      for (const name of ['OpenCopy', 'HiddenOne', 'HiddenTwo'])
        await door.call('register_agent', { project_key: project, program: 'test', model: 'none', name })
      const sent = await desk.send({
        cc: ['OpenCopy'],
        bcc: ['HiddenOne', 'HiddenTwo'],
        subject: 'Plan for /api/users\u2028Archive: x',
        body_md: '# Heading\n\nÄ body — with `code`\n---\nand a rule',
        thread_id: 'TKT-123',
        importance: 'high',
        ack_required: true,
      })
      const { message_id: id, created_ts } = sent
      const name = `${month(created_ts)}/${id}.md`
      const canonical = await file(`messages/${name}`)
      const open = {
        id,
        thread_id: 'TKT-123',
        project,
        project_slug: slug,
        from: 'GreenCastle',
        to: ['BlueLake'],
        cc: ['OpenCopy'],
        subject: 'Plan for /api/users\u2028Archive: x',
        created: created_ts,
        importance: 'high',
        ack_required: true,
        attachments: [],
      }
      expect(parsed(canonical.text)).toEqual({
        head: open,
        body: '# Heading\n\nÄ body — with `code`\n---\nand a rule\n',
      })
      for (const agent of ['BlueLake', 'OpenCopy'])
        expect((await file(`agents/${agent}/inbox/${name}`)).text).toBe(canonical.text)
      expect(parsed((await file(`agents/GreenCastle/outbox/${name}`)).text).head).toEqual({
        ...open,
        bcc: ['HiddenOne', 'HiddenTwo'],
      })
      for (const agent of ['HiddenOne', 'HiddenTwo'])
        expect(parsed((await file(`agents/${agent}/inbox/${name}`)).text).head).toEqual({ ...open, bcc: [agent] })

      const digest = (await file('messages/threads/TKT-123.md')).text
      expect(digest).toContain('# TKT-123\n')
      expect(digest).toContain(`## 1. GreenCastle to BlueLake, OpenCopy | Plan for /api/users Archive: x`)
      expect(digest).toContain(`[${id}](../${name})`)
      expect(digest).toContain('> # Heading\n>\n> Ä body')
      // Files and commits in which a blind copy must not be named.
      const others = [
        canonical.text,
        digest,
        (await file(`agents/BlueLake/inbox/${name}`)).text,
        await repository.git('log', '--format=%B'),
      ]
      const mail = others.map((text) => text.replaceAll(/^agent: .*$/gm, ''))
      expect(mail.join('')).not.toMatch(/Hidden/)

      const log = await repository.git('log', '--format=%an <%ae>|%s', '--stat=200', '--', `messages/${name}`)
      expect(log).toMatch(
        /^Archivist <archivist@example\.org>\|mail: GreenCastle -> BlueLake, OpenCopy \| Plan for \/api\/users Archive: x\n/,
      )
      const commit = (await repository.git('log', '--format=%H', '--', `messages/${name}`)).trim()
      expect((await repository.git('show', '--format=', '--name-only', commit)).trim().split('\n').sort()).toEqual([
        `agents/BlueLake/inbox/${name}`,
        `agents/GreenCastle/outbox/${name}`,
        `agents/HiddenOne/inbox/${name}`,
        `agents/HiddenTwo/inbox/${name}`,
        `agents/OpenCopy/inbox/${name}`,
        `messages/${name}`,
      ])
      expect((await repository.subjects()).filter((subject) => subject.startsWith('digest:'))).toEqual([
        'digest: TKT-123',
      ])
      await repository.sound()
    },
    60_000,
  )

  verifies(
    ['mail.archive.layout', 'mail.archive.commits'],
    'has profiles and reservations, and keeps a reservation that was released',
    async () => {
      const { desk, slug, file, repository } = await begin()
      const { project: project_key, door } = desk
      await door.call('register_agent', {
        project_key,
        program: 'codex',
        model: 'gpt',
        name: 'BlueLake',
        task_description: 'tests',
      })
      await expect
        .poll(async () => JSON.parse((await file('agents/BlueLake/profile.json')).text), { timeout: 20_000 })
        .toMatchObject({
          name: 'BlueLake',
          program: 'codex',
          model: 'gpt',
          task_description: 'tests',
          project: project_key,
          project_slug: slug,
          contact_policy: 'auto',
          attachments_policy: 'auto',
        })
      const lease = { project_key, agent_name: 'BlueLake', paths: ['src/**'] }
      await door.call('file_reservation_paths', { ...lease, ttl_seconds: 600, reason: 'bd-1' })
      const reservation = { agent: 'BlueLake', exclusive: true, reason: 'bd-1', released_ts: null }
      const { path: found } = await file(/^file_reservations\//)
      expect(found).toMatch(/^file_reservations\/[0-9a-f]{40}\.json$/)
      expect(JSON.parse(repository.read(found))).toMatchObject({ path_pattern: 'src/**', reservations: [reservation] })
      await door.call('release_file_reservations', lease)
      const released = async () =>
        (JSON.parse((await file(found)).text) as { reservations: { released_ts: string | null }[] }).reservations[0]
          ?.released_ts
      await expect.poll(released, { timeout: 20_000 }).toMatch(/^20/)
      const subjects = await repository.subjects()
      expect(subjects).toContainEqual(
        expect.stringMatching(/^lease: BlueLake src\/\*\* \(exclusive, until .*Z\) \| bd-1$/),
      )
      expect(subjects[0]).toBe('release: BlueLake src/**')
      expect(subjects).toContainEqual('agent: BlueLake (codex, gpt) | tests')
    },
    60_000,
  )

  verifies(
    ['mail.archive.digest', 'mail.archive.names'],
    'has a digest for a thread as soon as there is an answer, and goes on in a second part',
    async () => {
      const { desk, file } = await begin()
      const first = await desk.send({ thread_id: undefined })
      await file(`messages/${month(first.created_ts)}/${first.message_id}.md`)
      const answer = await desk.reply(first.message_id, 'BlueLake')
      const { text } = await file(`messages/threads/${first.message_id}.md`)
      expect(text).toContain('## 2. BlueLake to GreenCastle | Re: Plan')
      expect(
        parsed((await file(`messages/${month(answer.created_ts)}/${answer.message_id}.md`)).text).head.thread_id,
      ).toBe(String(first.message_id))
      expect(
        parsed((await file(`messages/${month(first.created_ts)}/${first.message_id}.md`)).text).head.thread_id,
      ).toBe(String(first.message_id))
      for (const thread_id of ['long', '../../up', 'CaseD', 'cased', 'con', 'v1.2']) await desk.send({ thread_id })
      for (let n = 1; n <= 100; n++) await desk.send({ thread_id: 'long', body_md: `number ${n}` })
      const second = await file('messages/threads/long.2.md')
      await expect.poll(async () => (await file('messages/threads/long.2.md')).text).toContain('## 101. ')
      expect(second.text).not.toContain('## 100. ')
      for (const name of ['%2E.%2F..%2Fup', 'CaseD', '%63%61%73%65%64', '%63on', 'v1%2E2'])
        await file(`messages/threads/${name}.md`)
    },
    60_000,
  )

  verifies(
    'mail.archive.across',
    'keeps mail between projects in both: canonical with the sender, the copy with the recipient',
    async () => {
      const here = await begin()
      const there = await begin()
      const door = plainMail(server())
      await door.call('set_contact_policy', { project_key: there.desk.project, agent_name: 'RedStone', policy: 'open' })
      const sent = await here.desk.send({ to: [`RedStone@${there.slug}`], subject: 'Across', thread_id: 'shared' })
      const name = `${month(sent.created_ts)}/${sent.message_id}.md`
      const canonical = parsed((await here.file(`messages/${name}`)).text)
      expect(canonical.head).toMatchObject({
        from: 'GreenCastle',
        to: [`RedStone@${there.slug}`],
        project_slug: here.slug,
      })
      await here.file(`agents/GreenCastle/outbox/${name}`)
      const copy = parsed((await there.file(`agents/RedStone/inbox/${name}`)).text)
      expect(copy.head).toMatchObject({ from: `GreenCastle@${here.slug}`, to: ['RedStone'], project_slug: there.slug })
      expect(await there.repository.files()).not.toContain(`messages/${name}`)
      expect(await here.repository.files()).not.toContain(`agents/RedStone/inbox/${name}`)
    },
    60_000,
  )

  verifies(
    'mail.archive.shared',
    'has the whole digest of a thread between projects in both of them, and no more than came there',
    async () => {
      const here = await begin()
      const there = await begin()
      const door = plainMail(server())
      for (const [{ desk }, agent_name] of [
        [here, 'GreenCastle'],
        [there, 'RedStone'],
      ] as const)
        await door.call('set_contact_policy', { project_key: desk.project, agent_name, policy: 'open' })
      const [red, green] = [[`RedStone@${there.slug}`], [`GreenCastle@${here.slug}`]]
      const asked = await here.desk.send({ to: red, subject: 'Question', thread_id: 'shared', body_md: 'Who asks?' })
      await here.desk.send({ thread_id: 'shared', subject: 'Between us', body_md: 'ours alone' })
      const reply = { sender_name: 'RedStone', message_id: asked.message_id, body_md: 'I do.' }
      await door.call('reply_message', { project_key: there.desk.project, ...reply })
      // By its key it is another thread in the store, and the same to its readers.
      const more = { sender_name: 'RedStone', to: green, thread_id: 'shared', subject: 'More', body_md: 'And more.' }
      await there.desk.send(more)
      await there.desk.send({ ...more, to: ['BlueLake'], subject: 'Theirs', body_md: 'theirs alone' })
      // Without a key it goes by its first message.
      const lone = await here.desk.send({ to: red, subject: 'Lone', body_md: 'Anybody there?' })
      await door.call('reply_message', { project_key: there.desk.project, ...reply, message_id: lone.message_id })
      const said = async ({ file }: typeof here, words: string, name = 'shared') => {
        const text = async () => (await file(`messages/threads/${name}.md`)).text
        await expect.poll(text, { timeout: 20_000 }).toContain(words)
        return (await text()).split('\n').filter((line) => line.startsWith('>'))
      }
      expect(await said(here, 'And more')).toEqual(['> Who asks?', '> ours alone', '> I do.', '> And more.'])
      expect(await said(there, 'theirs alone')).toEqual(['> Who asks?', '> I do.', '> And more.', '> theirs alone'])
      for (const at of [here, there])
        expect(await said(at, 'I do', String(lone.message_id))).toEqual(['> Anybody there?', '> I do.'])
      // Each link leads to the file of its message.
      for (const { file, repository } of [here, there]) {
        const { text } = await file('messages/threads/shared.md')
        const links = [...text.matchAll(/\]\((\.\.\/[^)]+\.md)\)/g)].map(([, link = '']) => link)
        expect(links).toHaveLength(4)
        for (const link of links) expect(existsSync(join(repository.folder, 'messages/threads', link)), link).toBe(true)
      }
      await printedBy(server(), ['archive', 'verify'], { env: archived })
    },
    60_000,
  )

  verifies(
    ['mail.archive.doors', 'mail.archive.deleted'],
    'has the mail of the mailbox and the topics of the bus under their project; a deleted topic leaves by a commit',
    async () => {
      const commons = repositoryOf(server().storage, 'commons')
      await mailbox(server(), 'alice').send('bob', 'by the other door')
      const peer = httpPeer(server(), '?agent=Ada')
      const topic = await peer.join('Ada', 'standup')
      await peer.send(topic, 'first words', 'more words')
      const here = async () =>
        (await commons.files().catch(() => [])).filter((path) => path.includes(topic) || path.startsWith('messages/2'))
      await expect.poll(async () => (await here()).length, { timeout: 20_000 }).toBe(4)
      const texts = (await here()).map((path) => commons.committed(path))
      const all = (await Promise.all(texts)).join('\n')
      for (const words of ['by the other door', 'first words', '> more words', '# standup\n'])
        expect(all).toContain(words)
      expect((await commons.files()).filter((path) => path.startsWith('agents/bob/inbox/'))).toHaveLength(1)
      await printedBy(server(), ['topics', 'rename', 'standup', 'daily'])
      await expect
        .poll(() => commons.committed(`messages/threads/${topic}.md`), { timeout: 20_000, interval: 200 })
        .toContain('# daily\n')
      await printedBy(server(), ['topics', 'delete', 'daily', '--force'])
      await expect.poll(async () => (await here()).length, { timeout: 20_000 }).toBe(1)
      expect((await commons.subjects())[0]).toMatch(/^topic: .*deleted$/)
      await commons.sound()
    },
    60_000,
  )
})
