import { tmpdir } from 'node:os'
import { gzipSync } from 'node:zlib'
import { expect } from 'vitest'
import { attackedServer, told } from '../support/attachment-attacks.ts'
import { type Desk, newDesk } from '../support/mail.ts'
import { shareServer } from '../support/parley.ts'
import { bomb, film, noise, uriOf } from '../support/pictures.ts'
import { verifies } from '../support/verifies.ts'

const parley = shareServer({ env: { ATTACHMENT_ROOTS: tmpdir() } })
const { stored, newRepository, refuses } = attackedServer(parley, { listed: true })

verifies(['mail.attach.bomb', 'mail.attach.refused'], 'images of too many pixels', async () => {
  const at = await newRepository()
  const bombs = {
    'huge.png': bomb(60_000, 60_000),
    'large.png': bomb(10_000, 10_000),
    'long.png': bomb(20_000, 2),
    'most.png': bomb(2 ** 31 - 1, 2 ** 31 - 1),
  }
  for (const [name, bytes] of Object.entries(bombs)) {
    await at.write(name, bytes)
    await refuses(at, name)
    await refuses(at, uriOf('image/png', bytes))
  }
  expect((await refuses(at, 'large.png')).message).toMatch(/pixels/)
  // The pictures of an animation count together.
  await at.write('film.gif', film({ width: 4000, height: 4000, pictures: 4 }))
  expect((await refuses(at, 'film.gif')).message).toMatch(/pixels/)
})

verifies(['mail.attach.whole', 'mail.attach.refused'], 'images that are cut off, broken, or lie', async () => {
  const at = await newRepository()
  const picture = noise(200, 200)
  const made = {
    png: await picture.png().toBuffer(),
    jpg: await picture.jpeg().toBuffer(),
    gif: await picture.gif().toBuffer(),
    webp: await picture.webp().toBuffer(),
    tiff: await picture.tiff().toBuffer(),
    avif: await picture.avif({ effort: 0 }).toBuffer(),
  }
  const types = {
    png: 'image/png',
    jpg: 'image/jpeg',
    gif: 'image/gif',
    webp: 'image/webp',
    tiff: 'image/tiff',
    avif: 'image/avif',
  }
  for (const [extension, bytes] of Object.entries(made)) {
    const type = types[extension as keyof typeof types]
    await at.write(`whole.${extension}`, bytes)
    expect(await at.send({ attachment_paths: [`whole.${extension}`, uriOf(type, bytes)] })).toMatchObject({ count: 1 })
    for (const [name, part] of [
      ['half', bytes.subarray(0, bytes.length >> 1)],
      ['head', bytes.subarray(0, 20)],
      ['none', Buffer.alloc(0)],
      ['text', Buffer.from('<html>')],
    ] as const) {
      await at.write(`${name}.${extension}`, part)
      await refuses(at, `${name}.${extension}`)
      await refuses(at, uriOf(type, part))
    }
    // Another picture's content under this name, and this content under another type.
    const lie = extension === 'png' ? made.jpg : made.png
    await at.write(`lie.${extension}`, lie)
    expect((await refuses(at, `lie.${extension}`)).message).toMatch(/its content is something else/)
    await refuses(at, uriOf(extension === 'png' ? 'image/jpeg' : 'image/png', bytes))
  }
  // Unconverted they are refused all the same.
  const before = stored()
  for (const path of ['half.jpg', 'lie.png'])
    expect(await told(at.send({ attachment_paths: [path], convert_images: false }))).toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
  for (const uri of [
    'data:image/png;base64,!!!!',
    'data:image/png;base64,AAAAA',
    'data:image/png',
    'data:image/png;base64,%zz',
  ])
    await refuses(at, uri, { markdown: uri.includes(',') })
  expect(stored()).toEqual(before)
})

verifies(['mail.attach.svg', 'mail.attach.refused'], 'an SVG that does more than draw', async () => {
  const at = await newRepository()
  const svg = (inside: string, head = 'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"') =>
    `<svg ${head}>${inside}</svg>`
  const attacks = [
    svg('<script>alert(1)</script>'),
    svg('<SCRIPT href="x.js"/>'),
    svg('<s:script xmlns:s="http://www.w3.org/2000/svg">1</s:script>'),
    svg('<g onload="alert(1)"/>'),
    svg('', 'xmlns="http://www.w3.org/2000/svg" OnLoad="alert(1)"'),
    svg('<a href="javascript:alert(1)"><text>x</text></a>'),
    svg('<use href="&#106;avascript:alert(1)"/>'),
    svg('<use href="other.svg#x"/>'),
    svg('<image href="file:///etc/passwd"/>'),
    svg('<foreignObject><body xmlns="http://www.w3.org/1999/xhtml"><script>1</script></body></foreignObject>'),
    svg('<set attributeName="onload" to="alert(1)"/>'),
    svg('<animate attributeName="href" values="javascript:alert(1)"/>'),
    svg('<style>@import url(//evil.example/x.css)</style>'),
    svg('<rect fill="url(https://evil.example/x)"/>'),
    svg('<rect style="background:\\75rl(x)"/>'),
    svg('<![CDATA[<script>alert(1)</script>]]>'),
    `<?xml-stylesheet href="x.xsl"?>${svg('')}`,
    `<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>${svg('<text>&x;</text>')}`,
    svg('<!-- > <script>alert(1)</script> -->'),
    '<html><script>alert(1)</script></html>',
    'no markup at all',
    Buffer.from(`\ufeff${svg('<script>1</script>')}`, 'utf16le'),
    gzipSync(svg('<script>1</script>')),
    svg('<g>'.repeat(400_000)),
  ]
  for (const [n, text] of attacks.entries()) {
    await at.write(`${n}.svg`, text)
    await refuses(at, `${n}.svg`)
    const bytes = Buffer.from(text)
    if (bytes.length < 10_000) await refuses(at, uriOf('image/svg+xml', bytes))
  }
  // One that only draws is kept as it is, and never in the message itself.
  const drawn = `<?xml version="1.0"?>\n<!-- a plan -->\n${svg('<defs><linearGradient id="a"><stop offset="0"/></linearGradient></defs><path d="M0 0" fill="url(#a)"/><use href="#a"/><text>a &lt; b</text>')}`
  await at.write('drawn.svg', drawn)
  const sent = await at.send({ body_md: '![plan](drawn.svg)' })
  expect(sent.attachments).toMatchObject([{ type: 'file', media_type: 'image/svg+xml', bytes: drawn.length }])
})

verifies('mail.attach.refused', 'too many, too large, and a project whose folder is not on this server', async () => {
  const at = await newRepository()
  const before = stored()
  const many = Array.from({ length: 21 }, (_, n) => `data:text/plain,${n}`)
  expect(await told(at.send({ attachment_paths: many }))).toMatchObject({ code: 'INVALID_ARGUMENT' })
  const images = Array.from({ length: 21 }, (_, n) => `![x](data:image/png;base64,${'A'.repeat(4 * n + 4)})`).join(' ')
  expect(await told(at.send({ body_md: images }))).toMatchObject({ message: expect.stringContaining('at most 20') })
  for (const name of ['a.bin', 'b.bin', 'c.bin']) await at.write(name, Buffer.alloc(7 * 2 ** 20, name))
  expect(await told(at.send({ attachment_paths: ['a.bin', 'b.bin', 'c.bin'] }))).toMatchObject({
    message: expect.stringContaining('20 MiB'),
  })
  await at.write('large.png', Buffer.alloc(33 * 2 ** 20))
  expect(await told(at.send({ attachment_paths: ['large.png'] }))).toMatchObject({
    message: expect.stringContaining('32 MiB'),
  })
  expect(stored()).toEqual(before)

  const desk: Desk = await newDesk(parley())
  const empty = stored()
  for (const path of ['docs/flow.png', '../flow.png', '/etc/hostname'])
    expect(await told(desk.send({ to: ['NewComer'], attachment_paths: [path] }))).toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('this server has no folder'),
      hint: expect.stringContaining('data URI'),
    })
  expect(stored()).toEqual(empty)
  expect(await desk.send({ body_md: '![flow](docs/flow.png)' })).not.toHaveProperty('attachments')
})
