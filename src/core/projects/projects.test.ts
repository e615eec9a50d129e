/** Projects: the names they go by, and what is remembered of them. */

import { expect, test } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { agentCaller, local } from '../access/callers.ts'
import { ensureAgent } from '../agents/agents.ts'
import { ensureProject, findProjectElsewhere, known, needProject, slugOfProject } from './projects.ts'

eachEngine('Projects', (open) => {
  const start = async () => openTestHub(await (await open()).connect())

  test('the slugs that a hub remembers do not grow without bound', async () => {
    const hub = await start()
    const { id, slug } = await ensureProject(hub, local, '/srv/code/app')
    for (let n = 1; n <= 10_000; n++) known(hub).slugs.set(-n, 'x')
    expect(await slugOfProject(hub, id)).toBe(slug)
    expect([...known(hub).slugs]).toEqual([[id, slug]])
    await hub.close()
  })

  verifies('mail.project.named', 'go by their slug without the hash until a second one has that name', async () => {
    const hub = await start()
    const app = await ensureProject(hub, local, '/srv/one/my_app')
    // Names that begin alike are other names, also where they end like a hash.
    await ensureProject(hub, local, '/srv/one/my_app web')
    await ensureProject(hub, local, '/srv/one/my_app-decade')
    for (const name of ['my-app', 'My-App', app.slug, app.key]) {
      expect(await needProject(hub, local, name)).toEqual(app)
      expect(await findProjectElsewhere(hub, local, name)).toEqual(app)
      expect(await ensureProject(hub, local, name)).toEqual(app)
    }
    const other = await ensureProject(hub, local, '/srv/two/my_app')
    for (const find of [needProject, findProjectElsewhere, ensureProject])
      await expect(find(hub, local, 'my-app')).rejects.toMatchObject({
        code: 'PROJECT_NOT_FOUND',
        hint: expect.stringMatching(new RegExp(`(?=.*${app.slug})(?=.*${other.slug})`)),
      })
    expect(await needProject(hub, local, other.slug)).toEqual(other)
    await hub.close()
  })

  verifies('mail.project.named', 'are known to the holder of a key by its own project only', async () => {
    const hub = await start()
    const holder = agentCaller(await ensureAgent(hub, local, { project: '/srv/one/app', name: 'ann' }))
    const elsewhere = await ensureProject(hub, local, '/srv/two/app')
    await ensureProject(hub, local, '/srv/two/web')
    expect(await needProject(hub, holder, 'app')).toMatchObject({ key: '/srv/one/app' })
    for (const name of ['web', elsewhere.slug, 'nowhere'])
      await expect(needProject(hub, holder, name)).rejects.toMatchObject({
        code: 'PROJECT_NOT_FOUND',
        hint: expect.not.stringMatching(/web|commons/),
      })
    await hub.close()
  })

  verifies('mail.project.nearest', 'that nobody has made are answered with the nearest slugs', async () => {
    const hub = await start()
    const backend = await ensureProject(hub, local, '/srv/backend')
    for (const name of ['frontend', 'docs', 'infrastructure', 'mobile']) await ensureProject(hub, local, `/srv/${name}`)
    for (const name of ['bakend', 'back end', '~/code/backnd', `${backend.slug}0`])
      for (const find of [needProject, ensureProject])
        await expect(find(hub, local, name)).rejects.toMatchObject({
          code: 'PROJECT_NOT_FOUND',
          hint: expect.stringMatching(new RegExp(`^The nearest: ${backend.slug} \\(/srv/backend\\)\\.`)),
        })
    // Where nothing is near, some are named all the same, by their names and not by their age.
    await expect(needProject(hub, local, 'xyz')).rejects.toMatchObject({
      hint: expect.stringMatching(
        /^The nearest: docs-\w+ \(\S+\), mobile-\w+ \(\S+\), backend-\w+ \(\S+\)\. There are 6 projects\./,
      ),
    })
    await expect(needProject(hub, local, '/opt/bakend')).rejects.toMatchObject({
      hint: expect.stringContaining(`nearest: ${backend.slug}`),
    })
    // A path inside a project means that project, and then those beside it are near.
    await expect(needProject(hub, local, '/srv/backend/src/api')).rejects.toMatchObject({
      hint: expect.stringMatching(new RegExp(`^It lies in the project ${backend.slug} \\(/srv/backend\\): name that`)),
    })
    const deep = await ensureProject(hub, local, '/data/ann/code/shop')
    await expect(needProject(hub, local, '/data/ann/code/zzz')).rejects.toMatchObject({
      hint: expect.stringContaining(`The nearest: ${deep.slug} (/data/ann/code/shop).`),
    })
    await hub.close()
  })

  verifies('mail.project.human-key', 'are made by absolute paths of every kind of system', async () => {
    const hub = await start()
    for (const key of ['/srv/app', 'C:\\code\\app', 'd:/code/app', '\\\\server\\share\\app', '/'])
      expect(await ensureProject(hub, local, key)).toMatchObject({ key })
    for (const key of ['app', './app', '../app', '~/app', 'C:app', '\\app', 'https://example.com/app'])
      await expect(ensureProject(hub, local, key)).rejects.toMatchObject({ code: 'PROJECT_NOT_FOUND' })
    await hub.close()
  })
})
