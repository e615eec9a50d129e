/** Attachments read by their hash: what came along with a message reaches the model that got it, and nobody else. */
import { createHash, randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import { connectMail, type Message, newDesk, plainMail, type Receipt } from '../../support/mail.ts'
import { connectClient, type EraName, eras, serveHere, shareServer } from '../../support/parley.ts'
import { drawing, noise, uriOf } from '../../support/pictures.ts'
import { verifies } from '../../support/verifies.ts'

const parley = shareServer()

type Sent = Receipt & { attachments: { sha1: string; uri: string; path?: string; original_path?: string }[] }

interface Content {
  uri: string
  mimeType: string
  text?: string
  blob?: string
}

async function read(
  at: { url: string },
  uri: string,
  era: EraName = eras[0],
): Promise<Content & { _meta?: Record<string, unknown> }> {
  const client = await connectClient(`${at.url}/mcp`, era)
  const { contents } = await client.readResource({ uri })
  return contents[0] as Content
}

for (const era of eras)
  verifies('mail.attach.resource', `what a message carries is read by the uri in its answer, ${era}`, async () => {
    const desk = await newDesk(parley(), await connectMail(parley(), era))
    const large = uriOf('image/png', await noise().png().toBuffer())
    const small = uriOf('image/png', await drawing().png().toBuffer())
    await desk.send({ attachment_paths: ['data:text/plain,hello%20there', large, small] })
    const [message] = (await desk.inbox('BlueLake')) as (Message & Sent)[]
    const [text, picture, inline] = message?.attachments ?? []
    expect(text?.uri).toBe(`resource://attachment/${text?.sha1}`)
    expect(await read(parley(), text?.uri ?? '', era)).toMatchObject({ mimeType: 'text/plain', text: 'hello there' })
    for (const image of [picture, inline]) {
      const { blob = '', mimeType } = await read(parley(), image?.uri ?? '', era)
      expect(mimeType).toBe('image/webp')
      expect(createHash('sha1').update(Buffer.from(blob, 'base64')).digest('hex')).toBe(image?.sha1)
    }
    const client = await connectClient(`${parley().url}/mcp`, era)
    const { tools } = await client.listTools()
    expect(tools.find(({ name }) => name === 'fetch_inbox')?.description).toMatch(/attachments by their uri/)
    const { resourceTemplates } = await client.listResourceTemplates()
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toContain(
      'resource://attachment/{sha1}{?project,offset}',
    )
  })

verifies('mail.attach.resource', 'a long text comes in parts, an original by its own hash', async () => {
  const server = await serveHere({ env: { KEEP_ORIGINAL_IMAGES: 'true' } })
  const desk = await newDesk(server)
  const text = 'é'.repeat(300_000)
  const png = await drawing().png().toBuffer()
  const uris = [`data:text/markdown;base64,${Buffer.from(text).toString('base64')}`, uriOf('image/png', png)]
  const { attachments } = (await desk.send({ attachment_paths: uris })) as Sent
  const uri = attachments[0]?.uri ?? ''
  const first = await read(server, uri)
  const rest = await read(server, `${uri}?offset=${first._meta?.next_offset}`)
  expect(`${first.text}${rest.text}`).toBe(text)
  const [, original] = /([0-9a-f]{40})\.png$/.exec(attachments[1]?.original_path ?? '') ?? []
  const { blob = '' } = await read(server, `resource://attachment/${original?.toUpperCase()}`)
  expect(Buffer.from(blob, 'base64').equals(png)).toBe(true)
})

verifies('mail.attach.parts', 'bytes come in parts too', async () => {
  const desk = await newDesk(parley())
  const bytes = randomBytes(2.5 * 1024 * 1024)
  const { attachments } = (await desk.send({ attachment_paths: [uriOf('application/zip', bytes)] })) as Sent
  const uri = attachments[0]?.uri ?? ''
  const parts: Buffer[] = []
  for (let offset: unknown = 0; offset !== undefined; ) {
    const { blob = '', _meta } = await read(parley(), `${uri}?offset=${offset}`)
    parts.push(Buffer.from(blob, 'base64'))
    offset = _meta?.next_offset
  }
  expect(parts.map(({ length }) => length)).toEqual([2, 0.5].map((size) => size * 1024 * 1024))
  expect(Buffer.concat(parts).equals(bytes)).toBe(true)
})

verifies('mail.attach.resource', 'only where its message is in sight', async () => {
  const [desk, other] = [await newDesk(parley()), await newDesk(parley())]
  const { attachments } = (await desk.send({ attachment_paths: [`data:text/plain,of ${desk.project}`] })) as Sent
  const uri = attachments[0]?.uri ?? ''
  const inside = (project: string) => `${uri}?project=${encodeURIComponent(project)}`
  expect(await read(parley(), inside(desk.project))).toMatchObject({ text: `of ${desk.project}` })
  const refusals = [inside(other.project), `resource://attachment/${'0'.repeat(40)}`]
  for (const wrong of refusals)
    await expect(plainMail(parley()).read(wrong)).rejects.toMatchObject({ data: { code: 'NOT_FOUND' } })
  await expect(plainMail(parley()).read('resource://attachment/xyz')).rejects.toMatchObject({
    data: { code: 'INVALID_ARGUMENT' },
  })
})
