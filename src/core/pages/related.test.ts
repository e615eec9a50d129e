/** Related projects: how they are judged, suggested and decided; on both engines. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { back, front, openPages } from '../../../test/support/pages.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { local, operator, person } from '../access/callers.ts'
import { ensureProject } from '../projects/projects.ts'
import { judge, keepRelating } from './find-related.ts'
import { listPageProjects } from './projects.ts'
import { decideRelated, listSuggestions } from './related.ts'

const pair = (one: { a: { slug: string }; b: { slug: string } }) =>
  [one.a.slug, one.b.slug].map((slug) => slug.replace(/-\w{6}$/, ''))

eachEngine('Related projects', (open) => {
  verifies('web.related.judged', 'by names and folders, then by what agents do', async () => {
    const { hub, clock, write } = await openPages(open)
    await ensureProject(hub, local, '/srv/x/weather')
    const stop = keepRelating(hub)
    clock.advance(1500)
    const suggested = async () => (await listSuggestions(hub, operator)).map((one) => [...pair(one), one.percent])
    await expect.poll(suggested).toEqual([['shop-backend', 'shop-frontend', expect.any(Number)]])
    const [first] = await listSuggestions(hub, operator)
    expect(first?.reason).toMatch(/^Both are named "shop"/)
    // A project that comes later.
    await ensureProject(hub, local, '/srv/shop-worker')
    clock.advance(1500)
    await expect.poll(async () => (await suggested()).length).toBe(3)
    await stop()
    // Mail across makes a pair that nothing else connects.
    await ensureProject(hub, local, '/srv/y/other')
    await judge(hub)
    const before = (await suggested()).find(([a, b]) => a === 'shop-backend' && b === 'shop-frontend')?.[2]
    await write('Ann', [{ name: 'Dora', project: front }])
    await judge(hub, { all: true })
    const after = (await suggested()).find(([a, b]) => a === 'shop-backend' && b === 'shop-frontend')?.[2]
    expect(Number(after)).toBeGreaterThan(Number(before))
    await hub.close()
  })

  verifies('web.related.decided', 'for good', async () => {
    const { hub } = await openPages(open)
    await ensureProject(hub, local, '/srv/shop-worker')
    await judge(hub)
    expect(await listSuggestions(hub, local)).toHaveLength(3)
    const decide = (caller: typeof local, confirm: boolean, other = front) =>
      decideRelated(hub, caller, back, { other, confirm })
    await expect(decide(local, true)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(decide(operator, true, back)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    await decide(person, true)
    await decide(person, false, '/srv/shop-worker')
    await judge(hub, { all: true })
    expect((await listSuggestions(hub, local)).map(pair)).toEqual([['shop-frontend', 'shop-worker']])
    const { items } = await listPageProjects(hub, operator, { limit: 50 })
    const siblings = items.map(({ siblings }) => siblings.map((slug) => slug.replace(/-\w{6}$/, '')))
    expect(siblings).toEqual([[], ['shop-frontend'], ['shop-backend'], []])
    await hub.close()
  })

  verifies('web.related.judged', 'by names at once, however long a language model takes', async () => {
    const answered = Promise.withResolvers<string>()
    const { hub } = await openPages(open, { llm: { complete: () => answered.promise, close() {} } })
    const judging = judge(hub)
    await expect
      .poll(async () => (await listSuggestions(hub, operator)).map(pair))
      .toEqual([['shop-backend', 'shop-frontend']])
    answered.resolve('{"percent": 99, "reason": "One product."}')
    await judging
    expect(await listSuggestions(hub, operator)).toMatchObject([{ percent: 99, reason: 'One product.' }])
    await hub.close()
  })

  verifies('web.related.documents', 'are read from the two folders alone', async () => {
    const root = await mkdtemp(join(tmpdir(), 'related-'))
    onTestFinished(() => rm(root, { recursive: true }))
    const asked: string[] = []
    let answer = '{"percent": 93, "reason": "Both are about parrots."}'
    const llm = {
      complete: async ({ prompt }: { prompt: string }) => {
        asked.push(prompt)
        return answer
      },
      close() {},
    }
    const { hub } = await openPages(open, { llm })
    await writeFile(join(root, 'secret.md'), 'SECRET')
    for (const [name, text] of [
      ['parrot-api', 'about feathers'],
      ['parrot-web', undefined],
    ] as const) {
      await mkdir(join(root, name))
      if (text === undefined) await symlink(join(root, 'secret.md'), join(root, name, 'README.md'))
      else await writeFile(join(root, name, 'README.md'), text)
      await writeFile(join(root, name, 'NOTES.md'), 'NOTES')
      await ensureProject(hub, local, join(root, name))
    }
    await judge(hub)
    expect((await listSuggestions(hub, operator))[0]).toMatchObject({ percent: 93, reason: 'Both are about parrots.' })
    expect(asked.join()).toContain('about feathers')
    expect(asked.join()).not.toMatch(/SECRET|NOTES/)
    // The model's answer stays, also when everything is judged again by what agents do; and the model is asked once.
    const questions = asked.length
    await judge(hub, { all: true })
    expect((await listSuggestions(hub, operator))[0]).toMatchObject({ percent: 93, reason: 'Both are about parrots.' })
    expect(asked).toHaveLength(questions)
    answer = '{"percent": 3, "reason": "One is about carrots."}'
    await ensureProject(hub, local, join(root, 'parrot-food'))
    await judge(hub)
    await judge(hub, { all: true })
    expect((await listSuggestions(hub, operator)).flatMap(pair)).not.toContain('parrot-food')
    // One that cannot be used leaves what the names say.
    answer = 'no idea'
    await ensureProject(hub, local, join(root, 'parrot-ios'))
    await judge(hub)
    expect((await listSuggestions(hub, operator)).map(pair)).toContainEqual(['parrot-web', 'parrot-ios'])
    await hub.close()
  })
})
