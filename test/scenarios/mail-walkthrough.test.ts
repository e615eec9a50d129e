/** The walkthrough of mail, whole: a diagram as WebP, the archive on disk with its commits, and the guard of a real repository. */
import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import { describe, expect } from 'vitest'
import { archived, repositoryOf } from '../support/archive.ts'
import { repositoryAt } from '../support/guard.ts'
import { connectMail, type Message, type Receipt } from '../support/mail.ts'
import { eras, shareServer, temporaryFolder } from '../support/parley.ts'
import { drawing, noise } from '../support/pictures.ts'
import { verifies } from '../support/verifies.ts'

interface Commit {
  sha: string
  ts: string
  summary: string
  author: string
}

interface Attached {
  type: string
  media_type: string
  data_uri?: string
  path?: string
  sha1?: string
}

const flow = '![diagram](docs/flow.png)'

const server = shareServer({ env: archived })

describe.each(eras)('A client of %s', (era) => {
  verifies(
    'mail.story.whole',
    'plans with a diagram, finds all of it in the archive, and commits once the lease is released',
    async () => {
      const root = await temporaryFolder()
      const code = await repositoryAt(join(root, 'backend'))
      const [backend, frontend] = [code.folder, join(root, 'frontend')]
      await mkdir(join(backend, 'docs'))
      const flowPng = await drawing(320, 200).png().toBuffer()
      await writeFile(join(backend, 'docs/flow.png'), flowPng)
      await writeFile(join(backend, 'docs/photo.png'), await noise(400, 400).png().toBuffer())
      const { call, read } = await connectMail(server(), era)

      // 1. Two identities, in two projects.
      const green = await call<{ project: string }>('register_agent', {
        project_key: backend,
        program: 'codex-cli',
        model: 'gpt5-codex',
        name: 'GreenCastle',
        task_description: 'Auth refactor',
      })
      const blue = await call<{ project: string }>('register_agent', {
        project_key: frontend,
        program: 'claude-code',
        model: 'opus-4.1',
        name: 'BlueLake',
        task_description: 'Navbar redesign',
      })
      expect(green.project).not.toBe(blue.project)

      // 2. A lease.
      await call('file_reservation_paths', {
        project_key: backend,
        agent_name: 'GreenCastle',
        paths: ['app/api/*.py'],
        ttl_seconds: 7200,
        exclusive: true,
        reason: 'migrations',
      })

      // 3. A plan with a diagram, and one with an image too large to stand in it.
      const send = (body_md: string, more: Record<string, unknown> = {}) =>
        call<Receipt & { attachments: Attached[] }>('send_message', {
          project_key: backend,
          sender_name: 'GreenCastle',
          to: ['BlueLake'],
          subject: 'Plan for /api/users',
          body_md,
          convert_images: true,
          ...more,
        })
      const plan = await send(`Here is the flow...\n\n${flow}`)
      const [inline, ...none] = plan.attachments
      expect(none).toEqual([])
      expect(inline).toMatchObject({ type: 'inline', media_type: 'image/webp' })
      const picture = Buffer.from(String(inline?.data_uri).split(',')[1] ?? '', 'base64')
      expect(await sharp(picture).metadata()).toMatchObject({ format: 'webp', width: 320, height: 200 })
      const photo = await send('![photo](docs/photo.png)', { thread_id: 'TKT-123', subject: 'A photo' })
      const [file] = photo.attachments
      expect(file).toMatchObject({ type: 'file', media_type: 'image/webp', path: expect.stringMatching(/\.webp$/) })

      // 4. BlueLake reads, and asks back in the thread.
      const inbox = await call<Message[]>('fetch_inbox', {
        project_key: backend,
        agent_name: 'BlueLake',
        include_bodies: true,
      })
      const bodies = new Map(inbox.map(({ id, body_md }) => [id, body_md]))
      expect(bodies.get(plan.message_id)).toBe(`Here is the flow...\n\n![diagram](${inline?.data_uri})`)
      expect(bodies.get(photo.message_id)).toBe(`![photo](${file?.path})`)
      const reply = await call<Receipt>('reply_message', {
        project_key: backend,
        message_id: plan.message_id,
        sender_name: 'BlueLake',
        body_md: 'Questions: ...',
      })
      const thread_id = String(plan.message_id)
      expect(reply).toMatchObject({ thread_id, subject: 'Re: Plan for /api/users' })

      // 5. A summary of the thread.
      expect(await call('summarize_thread', { project_key: backend, thread_id, include_examples: true })).toMatchObject(
        { thread_id, summary: { total_messages: 2 } },
      )

      // The files that people find on the disk, and the mail that agents find.
      const archive = repositoryOf(server().storage, green.project)
      const month = plan.created_ts.slice(0, 7).replace('-', '/')
      const lease = `file_reservations/${createHash('sha1').update('app/api/*.py').digest('hex')}.json`
      const files = [
        'agents/BlueLake/profile.json',
        'agents/GreenCastle/profile.json',
        `agents/BlueLake/outbox/${month}/${reply.message_id}.md`,
        `agents/GreenCastle/inbox/${month}/${reply.message_id}.md`,
        `messages/${month}/${reply.message_id}.md`,
        `messages/threads/${plan.message_id}.md`,
        'messages/threads/TKT-123.md',
        lease,
        String(file?.path),
        ...[plan, photo].flatMap(({ message_id }) => [
          `agents/BlueLake/inbox/${month}/${message_id}.md`,
          `agents/GreenCastle/outbox/${month}/${message_id}.md`,
          `messages/${month}/${message_id}.md`,
        ]),
      ].sort()
      await expect
        .poll(async () => (await archive.files().catch(() => [])).sort(), { timeout: 20_000, interval: 50 })
        .toEqual(files)
      await archive.sound()
      const text = archive.read(`messages/${month}/${plan.message_id}.md`)
      expect(text).toMatch(/^---json\n/)
      expect(text.slice(text.indexOf('\n---\n\n') + 6)).toBe(`Here is the flow...\n\n![diagram](${inline?.data_uri})\n`)
      expect(
        createHash('sha1')
          .update(archive.bytes(String(file?.path)))
          .digest('hex'),
      ).toBe(file?.sha1)
      expect(JSON.parse(archive.read(lease))).toMatchObject({
        path_pattern: 'app/api/*.py',
        reservations: [{ agent: 'GreenCastle', exclusive: true, reason: 'migrations', released_ts: null }],
      })
      const mailbox = await read<{ messages: (Message & { commit: Commit })[] }>(
        `resource://mailbox-with-commits/BlueLake?project=${encodeURIComponent(backend)}&limit=10`,
      )
      const summaries = ['Plan for /api/users', 'A photo'].map(
        (subject) => `mail: GreenCastle -> BlueLake | ${subject}`,
      )
      expect(mailbox.messages.map(({ commit }) => commit.summary).sort()).toEqual(summaries.sort())
      for (const { id, commit } of mailbox.messages)
        expect(await archive.git('show', '--format=%s%n%an <%ae>', '--name-only', commit.sha)).toMatch(
          new RegExp(`^${commit.summary.replaceAll('|', '\\|')}\n${commit.author}\n[^]*messages/${month}/${id}\\.md\n`),
        )

      // 6. The guard: BlueLake's commit is stopped until GreenCastle releases the files.
      const { hook } = await call('install_precommit_guard', { project_key: backend, code_repo_path: backend })
      expect(hook).toBe(code.hook)
      const head = await code.git('rev-parse', 'HEAD')
      await code.write({ 'app/api/users.py': 'routes = []\n' })
      const stopped = await code.commit('BlueLake')
      expect(stopped.code).toBe(1)
      for (const word of ['app/api/users.py', 'app/api/*.py', 'GreenCastle', 'migrations'])
        expect(stopped.said).toContain(word)
      expect(await code.git('rev-parse', 'HEAD')).toBe(head)
      expect(
        await call('release_file_reservations', { project_key: backend, agent_name: 'GreenCastle' }),
      ).toMatchObject({ released: 1 })
      expect(await code.commit('BlueLake')).toEqual({ code: 0, said: '' })
      expect(await code.git('show', '--format=', '--name-only', 'HEAD')).toContain('app/api/users.py')
      await expect
        .poll(async () => (await archive.subjects())[0], { timeout: 20_000, interval: 50 })
        .toMatch(/^release: .*app\/api\/\*\.py/)
    },
    60_000,
  )
})
