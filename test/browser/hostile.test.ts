/** Hostile content in a real browser: nothing runs, nothing is fetched from elsewhere, and every page is whole. */
import { expect } from 'vitest'
import { describeInBrowser, phone, scrollsSideways, shareBrowser, shareSeeded, watchHarm } from '../support/browser.ts'
import { attacks, seedHostile } from '../support/hostile.ts'
import { pagesOf } from '../support/seeded-pages.ts'
import { verifies } from '../support/verifies.ts'

const open = shareBrowser()
const parley = shareSeeded(seedHostile)

/** Addresses that a click would follow to something else than a page. */
const odd = `[...document.querySelectorAll('[href], [action], [src]')]
  .map((element) => ['href', 'action', 'src'].map((name) => element.getAttribute(name)).find((value) => value !== null))
  .filter((address) => !/^(\\/mail|https?:\\/\\/|mailto:|data:image\\/(png|jpeg|gif|webp);|#)/.test(address))`

describeInBrowser('Hostile content', () => {
  verifies(
    'web.looks.harmless',
    'opens no dialog, breaks no policy, reaches no other host, and leaves every page readable',
    async () => {
      const { url } = parley()
      const page = await (await open({ viewport: phone })).newPage()
      const harm = watchHarm(page, url)
      const { missing: _missing, ...pages } = await pagesOf(url)
      const { messages } = (await (await fetch(`${url}/mail?format=json&limit=200`)).json()) as {
        messages: { id: number; project: string; thread_id: string | null }[]
      }
      const part = encodeURIComponent
      const paths = new Set([
        ...Object.values(pages),
        ...messages.map(({ project, id }) => `/mail/${project}/message/${id}`),
        ...messages.map(({ project, thread_id, id }) => `/mail/${project}/thread/${part(thread_id ?? String(id))}`),
        ...attacks.map((attack) => `/mail/search?q=${part(attack)}&from=${part(attack)}`),
        ...attacks.map(
          (attack) => `/mail/overseer/compose?to=${part(attack)}&subject=${part(attack)}&body_md=${part(attack)}`,
        ),
      ])
      expect(paths.size).toBeGreaterThan(50)
      for (const path of paths) {
        const answer = await page.goto(url + path)
        expect([path, answer?.status()]).toEqual([path, 200])
        expect(await page.locator('h1').isVisible(), path).toBe(true)
        expect(await page.evaluate(odd), path).toEqual([])
        expect([path, await scrollsSideways(page)]).toEqual([path, false])
        expect(harm, path).toEqual([])
      }
    },
    120_000,
  )

  verifies(['web.looks.harmless', 'web.markdown.slow'], 'holds up nobody else while it is rendered', async () => {
    const { url } = parley()
    const slug = new URL((await pagesOf(url)).project ?? '', url).pathname
    let done = false
    const pages = Promise.all(
      ['bodies', 'endless'].map((thread) =>
        fetch(`${url}${slug}/thread/${thread}`, { headers: { accept: 'text/html' } }),
      ),
    ).finally(() => {
      done = true
    })
    let answered = 0
    while (!done) {
      expect((await fetch(`${url}/health/liveness`)).status).toBe(200)
      answered++
    }
    expect((await pages).map(({ status }) => status)).toEqual([200, 200])
    expect(answered).toBeGreaterThan(1)
  })
})
