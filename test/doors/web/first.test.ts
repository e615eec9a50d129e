/** The first look at the pages: an empty hub, what is loaded and when, and how much comes over the wire. */
import { describe, expect } from 'vitest'
import { assetNames } from '../../../src/doors/web/assets.ts'
import { loadedBy } from '../../support/loaded.ts'
import { newDesk } from '../../support/mail.ts'
import { shareServer } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'
import { visitor } from '../../support/web.ts'

const parley = shareServer()

describe('The pages at first', () => {
  verifies(
    'web.pages.empty',
    'show the line that connects each client, with the address that they were called by',
    async () => {
      const { url, port } = parley()
      expect((await visitor(url).get('/mail')).text).toContain(
        `claude mcp add --transport http parley http://127.0.0.1:${port}/mcp`,
      )
      const { text } = await visitor(`http://localhost:${port}`).get('/mail/unified-inbox')
      expect(text).toContain(`codex mcp add parley --url http://localhost:${port}/mcp`)
    },
  )

  verifies('web.pages.root', 'are where a browser lands that asks for nothing in particular', async () => {
    const ann = visitor(parley().url)
    const shown = await ann.get('/')
    expect([shown.status, shown.headers.get('location')]).toEqual([303, '/mail'])
    expect((await ann.get('/', { accept: '*/*' })).status).toBe(404)
    expect((await ann.get('/mail/')).status).toBe(200)
  })

  verifies('web.pages.lazy', 'bring no library into a server before the first of them is asked for', () => {
    const { files, libraries } = loadedBy('src/app/serve.ts')
    expect(files.size).toBeGreaterThan(100)
    expect(libraries).toContain('fastify')
    for (const library of ['markdown-it', 'sanitize-html', 'highlight.js/lib/common', 'lru-cache', 'idiomorph'])
      expect(libraries).not.toContain(library)
    for (const file of files) expect(file).not.toMatch(/web\/(pages|markdown)\//)
  })

  verifies(
    ['web.assets.cached', 'web.pages.weight'],
    'have assets that may be kept for ever, and weigh little',
    async () => {
      const ann = visitor(parley().url)
      const { text } = await ann.get('/mail')
      const [, folder = ''] = /href="(\/mail\/assets\/[0-9a-f]{12}\/)style\.css"/.exec(text) ?? []
      let weight = 0
      for (const name of assetNames)
        for (const encoding of ['br', 'gzip', 'identity']) {
          const asset = await ann.get(folder + name, { 'accept-encoding': encoding })
          expect([name, asset.status]).toEqual([name, 200])
          expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
          expect(asset.headers.get('x-content-type-options')).toBe('nosniff')
          if (encoding === 'gzip') weight += Number(asset.headers.get('content-length'))
        }
      expect(weight).toBeLessThan(60_000)
      expect((await ann.get('/mail/assets/000000000000/style.css')).status).toBe(404)
      expect((await ann.get(`${folder}..%2f..%2fpackage.json`)).status).toBe(404)
    },
  )

  verifies('web.pages.weight', 'weigh at most 20 KB for a list of 50', async () => {
    const { send } = await newDesk(parley())
    for (let n = 0; n < 50; n++)
      await send({
        subject: `Plan ${n} for the migration`,
        body_md: `Step ${n * 7919} of the plan: ${'words that differ '.repeat(n % 9)}${n}`,
      })
    const response = await fetch(`${parley().url}/mail`, {
      headers: { accept: 'text/html', 'accept-encoding': 'gzip' },
    })
    const length = Number(response.headers.get('content-length'))
    expect(response.headers.get('content-encoding')).toBe('gzip')
    expect((await response.text()).match(/class="row[ "]/g)).toHaveLength(50)
    expect(length).toBeGreaterThan(1000)
    expect(length).toBeLessThan(20_000)
  })
})
