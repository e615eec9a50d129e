/** Projects: what is remembered of them. */

import { expect, test } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { openTestHub } from '../../../test/support/hub.ts'
import { local } from '../access/callers.ts'
import { ensureProject, known, slugOfProject } from './projects.ts'

eachEngine('Projects', (open) => {
  test('the slugs that a hub remembers do not grow without bound', async () => {
    const hub = await openTestHub(await (await open()).connect())
    const { id, slug } = await ensureProject(hub, local, '/srv/code/app')
    for (let n = 1; n <= 10_000; n++) known(hub).slugs.set(-n, 'x')
    expect(await slugOfProject(hub, id)).toBe(slug)
    expect([...known(hub).slugs]).toEqual([[id, slug]])
    await hub.close()
  })
})
