/** The files and images of a project that is exported and imported. */
import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { parleyCommand } from '../support/cli.ts'
import { eachEngine } from '../support/engines.ts'
import { type Message, newDesk, plainMail, type Receipt } from '../support/mail.ts'
import { serveHere, temporaryFolder } from '../support/parley.ts'
import { bomb, drawing, noise, uriOf } from '../support/pictures.ts'
import { allRows } from '../support/stored-rows.ts'
import { verifies } from '../support/verifies.ts'

interface Attached {
  type: string
  path?: string
  original_path?: string
}

const notes = randomBytes(300_000)
const sha1 = (bytes: Buffer) => createHash('sha1').update(bytes).digest('hex')
const pathOf = (bytes: Buffer, extension: string) =>
  `attachments/${sha1(bytes).slice(0, 2)}/${sha1(bytes)}.${extension}`

eachEngine('An export with attachments', (open) => {
  async function start(more: Record<string, string> = {}) {
    const database = await open()
    const storage = await temporaryFolder()
    const env = { DATABASE_URL: database.url, KEEP_ORIGINAL_IMAGES: 'true', ...more }
    const run = (...args: string[]) => parleyCommand({ storage }, args, { env })
    return { database, storage, env, run, serve: () => serveHere({ storage, env }) }
  }

  /** A project whose messages have an image in the text, one beside it, a large one, and a file twice. */
  async function exported() {
    const here = await start()
    const server = await here.serve()
    const desk = await newDesk(server)
    const small = uriOf('image/png', await drawing().png().toBuffer())
    const photo = uriOf('image/png', await noise(400, 400).png().toBuffer())
    const zip = uriOf('application/zip', notes)
    const send = (more: Record<string, unknown>) => desk.send(more) as Promise<Receipt & { attachments: Attached[] }>
    await send({ thread_id: 'T-1', body_md: `flow: ![flow](${small})`, attachment_paths: [zip, photo] })
    await send({ thread_id: 'T-1', body_md: 'again', attachment_paths: [zip] })
    await send({ thread_id: 'T-2', body_md: 'beside', attachment_paths: [small] })
    const file = join(here.storage, 'project.jsonl')
    expect(await here.run('export', desk.project, '--format', 'json', '--output', file)).toMatchObject({ code: 0 })
    const page = async (door = desk.door) =>
      Promise.all(
        ['T-1', 'T-2'].map(async (thread) => {
          const at = `?project=${encodeURIComponent(desk.project)}&include_bodies=true`
          const { messages } = await door.read<{ messages: Message[] }>(`resource://thread/${thread}${at}`)
          return messages.map(({ attachments, body_md }) => ({ attachments, body_md }))
        }),
      )
    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
    return { ...here, server, desk, file, lines, page }
  }

  /** Everything that is stored of files, without the names of its parts. */
  async function stored(database: Awaited<ReturnType<typeof start>>['database']) {
    const db = await database.connect()
    const files = await db.all<{ path: string; sha256: string; size: number; content: string }>(
      sql`SELECT path, sha256, size, content FROM attachments ORDER BY path`,
    )
    return Promise.all(
      files.map(async ({ path, sha256, size, content }) => {
        const parts = await db.all<{ bytes: Uint8Array }>(
          sql`SELECT bytes FROM attachment_parts WHERE content = ${content} ORDER BY position`,
        )
        return { path, sha256, size: Number(size), sha1: sha1(Buffer.concat(parts.map(({ bytes }) => bytes))) }
      }),
    )
  }

  verifies(
    ['cli.export.files', 'cli.import.files'],
    'is the same attachments in another hub, each file once, and again when it is imported twice',
    async () => {
      const { database, server, desk, file, lines, page } = await exported()
      // The zip, the photo, and the originals of two images.
      expect(lines.filter((line) => line.startsWith('{"file"'))).toHaveLength(4)
      const before = await page()
      expect(before.flat().map(({ attachments }) => attachments.length)).toEqual([3, 1, 1])
      await server.stop()
      const there = await start()
      expect(await there.run('migrate')).toMatchObject({ code: 0 })
      expect(await there.run('import', file)).toMatchObject({ code: 0, stderr: '' })
      const far = await there.serve()
      expect(await page(plainMail(far))).toEqual(before)
      await far.stop()
      const files = await stored(database)
      expect(files).toHaveLength(4)
      for (const { path, sha1 } of files) expect(path).toContain(`/${sha1}.`)
      expect(await stored(there.database)).toEqual(files)
      expect(await there.run('import', file, '--force')).toMatchObject({ code: 0 })
      expect(await stored(there.database)).toEqual(files)
      const { projects = [], inline_images = [] } = await allRows(there.database.url)
      const bytes = files.reduce((sum, { size }) => sum + size, 0)
      expect(projects.map(({ human_key, attachment_bytes }) => [human_key, Number(attachment_bytes)])).toContainEqual([
        desk.project,
        bytes,
      ])
      expect(inline_images).toHaveLength(4)
      // The quota counts what is stored, and an import beyond it leaves nothing.
      const poor = await start({ QUOTA_ENABLED: 'true', QUOTA_ATTACHMENTS_LIMIT_BYTES: String(bytes - 1) })
      expect(await poor.run('migrate')).toMatchObject({ code: 0 })
      const empty = await allRows(poor.database.url)
      expect(await poor.run('import', file)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('QUOTA_ATTACHMENTS_LIMIT_BYTES'),
      })
      expect(await allRows(poor.database.url)).toEqual(empty)
    },
    60_000,
  )

  verifies(
    ['cli.import.hostile', 'hub.send.link-schemes'],
    'is refused whole where a file could not have been sent',
    async () => {
      const { server, lines } = await exported()
      await server.stop()
      const there = await start()
      expect(await there.run('migrate')).toMatchObject({ code: 0 })
      const empty = await allRows(there.database.url)
      const zip = lines.findIndex((line) => line.includes(`${sha1(notes)}.zip`) && line.startsWith('{"file"'))
      const first = lines.findIndex((line) => line.startsWith('{"message"'))
      const change = (index: number, edit: (line: string) => string) =>
        lines.map((line, at) => (at === index ? edit(line) : line))
      const added = (bytes: Buffer, extension: string, media_type: string) => [
        ...lines.slice(0, first),
        JSON.stringify({ file: { path: pathOf(bytes, extension), media_type, base64: bytes.toString('base64') } }),
        ...lines.slice(first),
      ]
      const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')
      const huge = bomb(30_000, 30_000)
      const cases: Record<string, { bad: string[]; why: RegExp }> = {
        'other bytes': {
          why: /is not the name of its content/,
          bad: change(zip, (line) => line.replace(/"base64":"..../, '"base64":"AAAA')),
        },
        'no base64': {
          why: /Line \d+ is not part of an export/,
          bad: change(zip, (line) => line.replace(/"base64":"..../, '"base64":"!!!!')),
        },
        'a file is missing': { why: /of message \d+ is not in it/, bad: lines.filter((_, at) => at !== zip) },
        'a path outside': {
          why: /Line \d+ is not part of an export/,
          bad: lines.map((line) => line.replaceAll(pathOf(notes, 'zip'), `../../${sha1(notes)}.zip`)),
        },
        'another size': {
          why: /describes .* wrongly/,
          bad: change(first, (line) => line.replace('"bytes":300000', '"bytes":299999')),
        },
        'a file that nobody names': { why: /no message names/, bad: added(Buffer.from('x'), 'txt', 'text/plain') },
        'an SVG with script': { why: /script/, bad: added(svg, 'svg', 'image/svg+xml') },
        'an SVG by another name': { why: /its content is something else/, bad: added(svg, 'txt', 'image/svg+xml') },
        'a picture that is none': {
          why: /its content is something else/,
          bad: added(Buffer.from('no picture'), 'png', 'image/png'),
        },
        'too many pixels': { why: /more than 50000000 pixels/, bad: added(huge, 'png', 'image/png') },
        'an inline image that is none': {
          why: /its content is something else/,
          bad: change(first, (line) => line.replace(/("data_uri":"data:image\/webp;base64,)[^"]+/, '$1AAAA')),
        },
        'an inline page': {
          why: /is no WebP/,
          bad: change(first, (line) => line.replace(/("data_uri":")data:image\/webp/, '$1data:text/html')),
        },
        'too many attachments': {
          why: /Line \d+ is not part of an export/,
          bad: change(first, (line) => {
            const { message } = JSON.parse(line) as { message: { attachments: Attached[] } }
            return JSON.stringify({ message: { ...message, attachments: Array(21).fill(message.attachments[0]) } })
          }),
        },
        'a link that runs': {
          why: /Line \d+ is not part of an export/,
          bad: change(first, (line) => {
            const { message } = JSON.parse(line) as { message: object }
            return JSON.stringify({
              message: { ...message, attachments: [{ type: 'link', uri: 'javascript:alert(1)' }] },
            })
          }),
        },
        'too long a body': {
          why: /the body of message \d+ must have at most/,
          bad: change(first, (line) => line.replace('"body_md":"', `"body_md":"${'x'.repeat(1_048_577)}`)),
        },
      }
      const file = join(there.storage, 'hostile.jsonl')
      for (const [name, { bad, why }] of Object.entries(cases)) {
        expect({ name, changed: bad.join('\n') !== lines.join('\n') }).toEqual({ name, changed: true })
        await writeFile(file, `${bad.join('\n')}\n`)
        const outcome = await there.run('import', file)
        expect({ name, ...outcome }).toMatchObject({ name, code: 1, stdout: '' })
        expect(outcome.stderr).toMatch(why)
        expect(outcome.stderr).toContain('Nothing was imported.')
      }
      expect(await allRows(there.database.url)).toEqual(empty)
      await writeFile(file, `${lines.join('\n')}\n`)
      expect(await there.run('import', file)).toMatchObject({ code: 0 })
    },
    60_000,
  )

  verifies('cli.export.files', 'as a page has its files beside it, or says where they are', async () => {
    const { server, desk, storage, run } = await exported()
    await server.stop()
    const shown = await run('export', desk.project)
    expect(shown.stdout).toMatch(/\| attachments \| not written: .*archive.*--output/)
    expect(shown.stdout).toContain(pathOf(notes, 'zip'))
    const folder = await temporaryFolder()
    const output = join(folder, 'page.md')
    expect(await run('export', desk.project, '--output', output)).toMatchObject({ code: 0 })
    const page = await readFile(output, 'utf8')
    expect(page).toContain('in the folder `attachments` beside this page')
    const links = [...page.matchAll(/^- \[.*\]\((attachments\/\S+)\) \((\S+), (\d+) bytes\)$/gm)]
    expect(links.map(([, path]) => path).sort()).toEqual(
      [...new Set(links.map(([, path]) => path))].concat(pathOf(notes, 'zip')).sort(),
    )
    for (const [, path = '', , size] of links) expect(await readFile(join(folder, path))).toHaveLength(Number(size))
    expect(await readFile(join(folder, pathOf(notes, 'zip')))).toEqual(notes)
    expect(page).toMatch(/> flow: !\[flow\]\(data:image\/webp;base64,/)
    expect(page).toMatch(/^- !\[an image\]\(data:image\/webp;base64,\S+\)$/m)
    expect(existsSync(join(storage, 'attachments'))).toBe(false)
    // Again over the same files, but over none that has another content.
    expect(await run('export', desk.project, '--output', output, '--force')).toMatchObject({ code: 0 })
    await writeFile(join(folder, pathOf(notes, 'zip')), 'mine')
    expect(await run('export', desk.project, '--output', join(folder, 'other.md'))).toMatchObject({ code: 1 })
    expect(await readFile(join(folder, pathOf(notes, 'zip')), 'utf8')).toBe('mine')
  })
})
