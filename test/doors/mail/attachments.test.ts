/** Attachments at the mail door: the arguments of send and reply, and the shape in which messages show them. */
import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { connectMail, type Message, plainMail, type Receipt } from '../../support/mail.ts'
import { eras, serveHere, shareServer, startParley, temporaryRepository } from '../../support/parley.ts'
import { drawing, noise, uriOf } from '../../support/pictures.ts'
import { verifies } from '../../support/verifies.ts'

const parley = shareServer()

const uri = expect.stringMatching(/^resource:\/\/attachment\/[0-9a-f]{40}$/)
const omitted = {
  type: 'inline',
  media_type: 'image/webp',
  sha1: expect.stringMatching(/^[0-9a-f]{40}$/),
  uri,
  data_omitted: true,
}
const { data_omitted: _, ...known } = omitted
const inline = { ...known, data_uri: expect.stringMatching(/^data:image\/webp;base64,/) }
const file = {
  type: 'file',
  media_type: 'image/webp',
  path: expect.stringMatching(/^attachments\/([0-9a-f]{2})\/\1[0-9a-f]{38}\.webp$/),
  bytes: expect.any(Number),
  sha1: expect.stringMatching(/^[0-9a-f]{40}$/),
  uri,
}

type Answer = Receipt & { attachments?: Record<string, unknown>[] }

/** A repository with a small and a large image, and two agents. */
async function newRepository(at: { url: string }, door = plainMail(at)) {
  const project_key = await temporaryRepository()
  await mkdir(join(project_key, 'docs'))
  await writeFile(join(project_key, 'docs/flow.png'), await drawing().png().toBuffer())
  await writeFile(join(project_key, 'docs/a photo.jpg'), await noise().jpeg().toBuffer())
  for (const name of ['GreenCastle', 'BlueLake'])
    await door.call('register_agent', { project_key, program: 'test', model: 'none', name })
  const call = { project_key, sender_name: 'GreenCastle', to: ['BlueLake'], subject: 'Plan for /api/users' }
  return {
    door,
    project_key,
    send: (more: Record<string, unknown>) => door.call<Answer>('send_message', { ...call, body_md: 'hello', ...more }),
    inbox: (more: Record<string, unknown> = {}) =>
      door.call<Message[]>('fetch_inbox', { project_key, agent_name: 'BlueLake', include_bodies: true, ...more }),
    read: <Value>(path: string) => door.read<Value>(`resource://${path}?project=${encodeURIComponent(project_key)}`),
  }
}

for (const era of eras)
  describe(`Attachments, ${era}`, () => {
    verifies(
      ['mail.attach.inline', 'mail.attach.file', 'mail.attach.reply'],
      'a send with images, read by its recipient and answered with another',
      async () => {
        const at = await newRepository(parley(), await connectMail(parley(), era))
        const body_md =
          'Here is the flow...\n\n![diagram](docs/flow.png)\n![photo](<docs/a photo.jpg>) ![same](docs/a%20photo.jpg)'
        const sent = await at.send({ body_md, convert_images: true })
        expect(sent.attachments).toEqual([inline, file])
        const [small, large] = sent.attachments ?? []
        const [message] = await at.inbox()
        expect(message?.attachments).toEqual([omitted, large])
        expect(message?.body_md).toBe(
          `Here is the flow...\n\n![diagram](${small?.data_uri})\n![photo](${large?.path}) ![same](${large?.path})`,
        )
        expect(await at.read(`message/${sent.message_id}`)).toMatchObject({ attachments: [omitted, large] })
        expect(await at.read('outbox/GreenCastle')).toMatchObject({ messages: [{ attachments: [omitted, large] }] })

        const answer = { project_key: at.project_key, message_id: sent.message_id, sender_name: 'BlueLake' }
        const more = { body_md: '![it](docs/flow.png)', attachment_paths: 'docs/a photo.jpg' }
        const replied = await at.door.call<Answer>('reply_message', { ...answer, ...more })
        expect(replied).toMatchObject({ reply_to: sent.message_id, attachments: [inline, file] })
      },
    )
  })

describe('Attachments', () => {
  verifies('mail.attach.markdown', 'what is no image of the project stays as written', async () => {
    const { send, inbox } = await newRepository(parley())
    const body_md = [
      '![gone](docs/gone.png) ![far](https://x.example/docs/flow.png) ![any](//x.example/a.png) ![none](docs/notes.txt)',
      '`![code](docs/flow.png)` [link](docs/flow.png) ![ref][flow] <img src="docs/flow.png">',
      '```\n![block](docs/flow.png)\n```',
      '![pdf](data:application/pdf,x)',
    ].join('\n')
    expect(await send({ body_md })).not.toHaveProperty('attachments')
    expect(await inbox()).toMatchObject([{ body_md, attachments: [] }])
  })

  verifies('mail.attach.convert', 'the setting decides where the call does not', async () => {
    const server = await serveHere({ env: { CONVERT_IMAGES: 'false', INLINE_IMAGE_MAX_BYTES: '0' } })
    const { send, inbox } = await newRepository(server)
    const attachment_paths = ['docs/flow.png']
    expect((await send({ attachment_paths })).attachments).toEqual([
      { ...file, media_type: 'image/png', path: expect.stringMatching(/\.png$/) },
    ])
    expect((await send({ attachment_paths, convert_images: true })).attachments).toEqual([file])
    expect(await inbox()).toHaveLength(2)
  })

  verifies('mail.attach.inline', 'the setting takes any size up to that of all attachments', async () => {
    const { send } = await newRepository(await serveHere({ env: { INLINE_IMAGE_MAX_BYTES: '20971520' } }))
    const { attachments } = await send({ attachment_paths: ['docs/flow.png', 'docs/a photo.jpg'] })
    expect(attachments).toMatchObject([{ type: 'inline' }, { type: 'inline' }])
  })

  verifies(['mail.attach.originals', 'mail.attach.quota'], 'originals and the quota are settings', async () => {
    const env = { KEEP_ORIGINAL_IMAGES: 'true', QUOTA_ENABLED: 'true', QUOTA_ATTACHMENTS_LIMIT_BYTES: '20000' }
    const { send, inbox } = await newRepository(await serveHere({ env }))
    const { attachments } = await send({ attachment_paths: ['docs/flow.png'] })
    const original_path = expect.stringMatching(/^attachments\/originals\/([0-9a-f]{2})\/\1[0-9a-f]{38}\.png$/)
    expect(attachments).toEqual([{ ...inline, original_path }])
    expect(await inbox()).toMatchObject([{ attachments }])
    const over = send({ attachment_paths: ['docs/a photo.jpg'] })
    await expect(over).rejects.toMatchObject({
      code: 'QUOTA_EXCEEDED',
      hint: expect.stringContaining('Nothing was sent'),
    })
    expect(await inbox()).toHaveLength(1)
  })

  verifies('mail.attach.policy', 'an agent says where its images are kept, and its profile shows it', async () => {
    const { door, project_key, send } = await newRepository(parley())
    const whois = () => door.call('whois', { project_key, agent_name: 'GreenCastle' })
    expect(await whois()).toMatchObject({ attachments_policy: 'auto' })
    const me = { project_key, name: 'GreenCastle' }
    expect(await door.call('register_agent', { ...me, attachments_policy: 'file' })).toMatchObject({
      attachments_policy: 'file',
    })
    expect((await send({ attachment_paths: ['docs/flow.png'] })).attachments).toEqual([file])
    const made = await door.call('create_agent_identity', { project_key, attachments_policy: 'inline' })
    expect(made).toMatchObject({ attachments_policy: 'inline' })
    await expect(door.call('register_agent', { ...me, attachments_policy: 'never' })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
    expect(await whois()).toMatchObject({ attachments_policy: 'file' })
  })

  verifies('mail.attach.answers', 'a list without bodies has no images, and names their hashes', async () => {
    const { send, inbox } = await newRepository(parley())
    const sent = await send({ attachment_paths: [uriOf('image/png', await noise(150, 150).png().toBuffer())] })
    expect(sent.attachments).toEqual([omitted])
    expect((await inbox({ include_bodies: false }))[0]?.attachments).toEqual([omitted])
    expect((await inbox())[0]?.attachments).toEqual([inline])
    // However small it is.
    await send({ attachment_paths: ['docs/flow.png'] })
    expect((await inbox({ include_bodies: false }))[0]?.attachments).toEqual([omitted])
  })

  verifies('mail.attach.once', 'an image that stands in the body comes once', async () => {
    const { send, inbox, read } = await newRepository(parley())
    const { message_id } = await send({ body_md: '![flow](docs/flow.png)', attachment_paths: ['docs/flow.png'] })
    const answers = [(await inbox())[0], await read<Message>(`message/${message_id}`)]
    for (const message of answers) {
      expect(message?.attachments).toEqual([omitted])
      expect(JSON.stringify(message).match(/data:image/g)).toHaveLength(1)
      expect(message?.body_md).toContain('![flow](data:image/webp;base64,')
    }
  })

  verifies(
    'mail.attach.aside',
    'others are answered while an image is converted, and the server itself never loads the converter',
    async () => {
      const child = await startParley()
      const { send, inbox, project_key } = await newRepository(child)
      const loaded = () => /libvips/.test(readFileSync(`/proc/${child.child.pid}/maps`, 'utf8'))
      await send({})
      if (process.platform === 'linux') expect(loaded()).toBe(false)
      // 6 megapixels.
      await writeFile(join(project_key, 'large.jpg'), await noise(700, 525).resize(2800, 2100).jpeg().toBuffer())
      let done = false
      const sending = send({ attachment_paths: ['large.jpg'] }).finally(() => {
        done = true
      })
      const finished = () => done
      let answered = 0
      while (!finished()) {
        await inbox({ limit: 1 })
        if (!finished()) answered++
        // The converter runs at low priority: without a pause this alone would hold it up.
        await sleep(5)
      }
      expect((await sending).attachments).toEqual([file])
      if (process.platform === 'linux') expect(loaded()).toBe(false)
      // It takes half a second or more; were they held up, one would be answered at most.
      expect(answered).toBeGreaterThan(10)
    },
  )
})
