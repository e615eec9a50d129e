import sharp from 'sharp'
import { expect } from 'vitest'
import { contentOf, counts, failure, startAttachments } from '../../../test/support/attachments.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { registered } from '../../../test/support/hub.ts'
import { drawing, noise, uriOf } from '../../../test/support/pictures.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { local } from '../access/callers.ts'
import { register } from '../agents/registration.ts'
import type { Rules } from '../hub/hub.ts'
import { send } from './send.ts'

eachEngine('Attachments', (open) => {
  const start = (rules?: Partial<Rules['attachments']>) => startAttachments(open, rules)

  verifies('mail.attach.inline', 'a small image of the Markdown stands in the message as WebP', async () => {
    const { hub, db, write, send, inbox } = await start()
    await write('docs/flow.png', await drawing(64, 48).png().toBuffer())
    const sent = await send({ body: 'Here: ![the flow](docs/flow.png "A title").' })
    const [inline] = sent.attachments
    expect(inline).toMatchObject({ kind: 'inline', mediaType: 'image/webp' })
    const uri = inline?.kind === 'inline' ? (inline.dataUri ?? '') : ''
    const webp = Buffer.from(uri.replace(/^data:image\/webp;base64,/, ''), 'base64')
    expect(await sharp(webp).metadata()).toMatchObject({ format: 'webp', width: 64, height: 48 })
    const [message] = await inbox()
    // It stands in the body, and comes once.
    expect(message?.attachments).toEqual([{ ...inline, dataUri: undefined }])
    expect(message?.body).toBe(`Here: ![the flow](${uri} "A title").`)
    expect(await counts(db)).toMatchObject({ files: 0, inline: 1, bytes: 0 })
    await hub.close()
  })

  verifies('mail.attach.file', 'a larger one is a file named by its content, which another node finds', async () => {
    const { hub, database, write, send, inbox, content, projectId } = await start()
    const png = await noise().png().toBuffer()
    await write('docs/photo.png', png)
    const { attachments } = await send({ body: '![photo](docs/photo.png)', enclosing: { paths: ['docs/photo.png'] } })
    const [file, ...others] = attachments
    expect(others).toEqual([])
    const path = expect.stringMatching(/^attachments\/([0-9a-f]{2})\/\1[0-9a-f]{38}\.webp$/)
    expect(file).toMatchObject({ kind: 'file', mediaType: 'image/webp', path })
    if (file?.kind !== 'file') throw new Error('no file')
    const [message] = await inbox()
    expect(message).toMatchObject({ attachments: [file], body: `![photo](${file.path})` })
    const bytes = (await content(file.path)) ?? Buffer.alloc(0)
    expect(bytes.length).toBe(file.bytes)
    expect(bytes.length).toBeGreaterThan(65_536)
    const { createHash } = await import('node:crypto')
    expect(createHash('sha1').update(bytes).digest('hex')).toBe(file.sha1)
    const other = await database.connect()
    expect((await contentOf(other, projectId, file.path))?.equals(bytes)).toBe(true)
    await hub.close()
  })

  verifies('mail.attach.dedup', 'the same content is stored once, by whomever and as whatever it is sent', async () => {
    const { hub, db, project, write, send } = await start()
    const png = await noise().png().toBuffer()
    await write('one.png', png)
    await write('two.png', png)
    await write('notes.txt', 'the same')
    const enclosing = { paths: ['one.png', 'two.png', 'notes.txt'] }
    const first = await send({ enclosing })
    expect(first.attachments).toHaveLength(2)
    const blue = registered('BlueLake', project)
    const sends = Array.from({ length: 3 }, () =>
      deliver(hub, blue, { to: [{ name: 'GreenCastle' }], body: 'x', enclosing }),
    )
    for (const { attachments } of await Promise.all(sends)) expect(attachments).toEqual(first.attachments)
    const sum = first.attachments.reduce((all, one) => all + (one.kind === 'file' ? one.bytes : 0), 0)
    expect(await counts(db)).toMatchObject({ messages: 4, files: 2, bytes: sum })
    await hub.close()
  })

  verifies(
    ['mail.attach.other', 'mail.attach.missing'],
    'other files are kept byte by byte, up to 10 MiB',
    async () => {
      const { hub, db, write, send, content } = await start()
      const files = {
        'report.PDF': Buffer.from([0, 255, 13, 10, 0]),
        'data.bin': Buffer.alloc(10 * 2 ** 20, 7),
        plain: Buffer.alloc(0),
      }
      for (const [name, bytes] of Object.entries(files)) await write(name, bytes)
      const { attachments } = await send({ enclosing: { paths: Object.keys(files) } })
      expect(attachments).toMatchObject([
        { kind: 'file', mediaType: 'application/pdf', path: expect.stringMatching(/\.pdf$/), bytes: 5 },
        {
          kind: 'file',
          mediaType: 'application/octet-stream',
          path: expect.stringMatching(/\.bin$/),
          bytes: 10 * 2 ** 20,
        },
        { kind: 'file', mediaType: 'application/octet-stream', path: expect.stringMatching(/\.bin$/), bytes: 0 },
      ])
      for (const [n, bytes] of Object.values(files).entries()) {
        const one = attachments[n]
        expect((await content(one?.kind === 'file' ? one.path : ''))?.equals(bytes)).toBe(true)
      }
      await write('data.bin', Buffer.alloc(10 * 2 ** 20 + 1, 7))
      const before = await counts(db)
      expect(await failure(send({ enclosing: { paths: ['data.bin'] } }))).toMatchObject({
        code: 'INVALID_ARGUMENT',
        message: expect.stringContaining('10 MiB'),
      })
      expect(await failure(send({ enclosing: { paths: ['report.PDF', 'gone.pdf'] } }))).toMatchObject({
        code: 'NOT_FOUND',
        message: expect.stringContaining('"gone.pdf"'),
      })
      expect(await counts(db)).toEqual(before)
      await hub.close()
    },
  )

  verifies('mail.attach.uri', 'data URIs are taken as paths and in the Markdown', async () => {
    const { hub, send, inbox, content } = await start()
    const gif = uriOf('image/gif', await drawing(8, 8).gif().toBuffer())
    const { attachments } = await send({
      body: `see ![it](${gif})`,
      enclosing: { paths: ['data:text/csv,a%2Cb', gif] },
    })
    expect(attachments).toMatchObject([
      { kind: 'inline', mediaType: 'image/webp' },
      { kind: 'file', mediaType: 'text/csv', bytes: 3 },
    ])
    expect((await inbox())[0]?.body).toMatch(/^see !\[it\]\(data:image\/webp;base64,[^)]+\)$/)
    const [, csv] = attachments
    expect(String(await content(csv?.kind === 'file' ? csv.path : ''))).toBe('a,b')
    await hub.close()
  })

  verifies(
    'mail.attach.convert',
    'what is not converted is stored as it is, and the Markdown names its path',
    async () => {
      const { hub, write, send, inbox, content } = await start({ convert: false })
      const png = await drawing().png().toBuffer()
      await write('flow.png', png)
      const { attachments } = await send({ body: '![flow](flow.png)', enclosing: { paths: ['flow.png'] } })
      expect(attachments).toMatchObject([{ kind: 'file', mediaType: 'image/png', bytes: png.length }])
      const [file] = attachments
      const path = file?.kind === 'file' ? file.path : ''
      expect((await inbox())[0]?.body).toBe(`![flow](${path})`)
      expect((await content(path))?.equals(png)).toBe(true)
      const asked = await send({ body: '![flow](flow.png)', enclosing: { convert: true } })
      expect(asked.attachments).toMatchObject([{ kind: 'inline', mediaType: 'image/webp' }])
      await hub.close()
    },
  )

  verifies('mail.attach.policy', "the sender's policy keeps images in the message or out of it", async () => {
    const { hub, project, write, send } = await start()
    await write('small.png', await drawing().png().toBuffer())
    await write('large.png', await noise(320, 320).png().toBuffer())
    const enclosing = { paths: ['small.png', 'large.png'] }
    const kinds = async () => (await send({ enclosing })).attachments.map(({ kind }) => kind)
    expect(await kinds()).toEqual(['inline', 'file'])
    const be = (attachments: 'auto' | 'inline' | 'file') =>
      register(hub, local, { project, name: 'GreenCastle', attachments })
    expect((await be('inline')).profile.attachmentsPolicy).toBe('inline')
    expect(await kinds()).toEqual(['inline', 'inline'])
    expect((await be('file')).profile.attachmentsPolicy).toBe('file')
    expect(await kinds()).toEqual(['file', 'file'])
    // Registering without a word about it leaves it as it is.
    expect((await register(hub, local, { project, name: 'GreenCastle' })).profile.attachmentsPolicy).toBe('file')
    await hub.close()
  })

  verifies('mail.attach.originals', 'the image before its conversion is stored too where that is asked', async () => {
    const { hub, write, send, inbox, content } = await start({ keepOriginals: true })
    const jpeg = await drawing().jpeg().toBuffer()
    await write('photo.jpeg', jpeg)
    const { attachments } = await send({ enclosing: { paths: ['photo.jpeg'] } })
    const [first] = attachments
    const original = (first !== undefined && first.kind !== 'link' && first.original) || ''
    expect(original).toMatch(/^attachments\/originals\/([0-9a-f]{2})\/\1[0-9a-f]{38}\.jpg$/)
    expect((await content(original))?.equals(jpeg)).toBe(true)
    expect((await inbox())[0]?.attachments).toEqual(attachments)
    await hub.close()
  })

  verifies('mail.attach.body', 'a long data URI is no part of the body once it is a file', async () => {
    const { hub, db, send, inbox } = await start()
    const uri = uriOf('image/png', await noise(700, 700).png().toBuffer())
    expect(uri.length).toBeGreaterThan(2 ** 20)
    await send({ body: `![it](${uri})` })
    expect((await inbox())[0]?.body).toMatch(/^!\[it\]\(attachments\/.*\.webp\)$/)
    const before = await counts(db)
    // As code it is text.
    for (const body of [`\`![it](${uri})\``, 'x'.repeat(2 ** 20 + 1)])
      expect(await failure(send({ body }))).toMatchObject({
        code: 'INVALID_ARGUMENT',
        message: expect.stringMatching(/^The body must have at most/),
      })
    expect(await counts(db)).toEqual(before)
    // An image that would fit by its size, and no longer fits the body, is a file.
    const small = uriOf('image/png', await noise(100, 100).png().toBuffer())
    const full = await send({ body: `${'x'.repeat(2 ** 20 - 5000)}![it](${small})` })
    expect(full.attachments).toMatchObject([{ kind: 'file' }])
    await hub.close()
  })
})

const deliver = send
