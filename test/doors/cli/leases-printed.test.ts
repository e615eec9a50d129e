/** `parley file_reservations`, for a person at a terminal and for a program. */

import { expect } from 'vitest'
import { local } from '../../../src/core/access/callers.ts'
import { release, reserve } from '../../../src/core/leases/leases.ts'
import { ensureProject } from '../../../src/core/projects/projects.ts'
import { leasesCommand } from '../../../src/doors/cli/mail/leases.ts'
import { TestClock } from '../../support/clock.ts'
import { eachEngine } from '../../support/engines.ts'
import { as, openTestHub } from '../../support/hub.ts'
import { testScreen } from '../../support/screen.ts'
import { verifies } from '../../support/verifies.ts'

const project = '/srv/code/web'

eachEngine('file_reservations', (open) => {
  /** GreenCastle holds src/** for an hour and had a.ts; BlueLake shares docs for ten minutes; ten seconds have passed. */
  const start = async () => {
    const database = await open()
    const clock = new TestClock()
    const connect = async () => openTestHub(await database.connect(), { clock })
    const hub = await connect()
    const { slug } = await ensureProject(hub, local, project)
    await ensureProject(hub, local, '/srv/empty')
    const ask = (name: string, pattern: string, ttlMs: number, exclusive = true) =>
      reserve(hub, as(name, project), {
        patterns: [pattern],
        exclusive,
        ttlMs,
        reason: exclusive ? '' : 'words\u001b[31m',
        onConflict: 'grant',
      })
    await ask('GreenCastle', 'src/**', 3_600_000)
    await ask('GreenCastle', 'a.ts', 3_600_000)
    await ask('GreenCastle', 'b.ts', 5000)
    await ask('BlueLake', 'docs', 600_000, false)
    await release(hub, as('GreenCastle', project), { patterns: ['a.ts'] })
    await hub.close()
    clock.advance(10_000)
    return {
      slug,
      async run(args: string[], tty = false) {
        const { seen, screen } = testScreen({ tty, width: 100 })
        await leasesCommand(connect, screen).parseAsync(args, { from: 'user' })
        return seen
      },
    }
  }

  verifies('cli.leases.list', 'lists what is reserved, and on demand what was', async () => {
    const { slug, run } = await start()
    const rows = async (...args: string[]) => (await run(args)).out.split('\n').map((line) => line.split('\t'))
    expect(await rows('list', project)).toEqual([
      ['id', 'agent', 'pattern', 'mode', 'state', 'ends', 'reason'],
      [expect.any(String), 'BlueLake', 'docs', 'shared', 'active', '2026-01-01T00:10:00.000Z', 'words␛[31m'],
      [expect.any(String), 'GreenCastle', 'src/**', 'exclusive', 'active', '2026-01-01T01:00:00.000Z', ''],
      [''],
    ])
    expect(await rows('list', slug, '--active-only')).toEqual(await rows('active', slug))
    const all = await rows('list', slug, '--no-active-only')
    expect(all.slice(1, -1).map(([, , pattern, , state, ends]) => [pattern, state, ends])).toEqual([
      ['docs', 'active', '2026-01-01T00:10:00.000Z'],
      ['b.ts', 'expired', '2026-01-01T00:00:05.000Z'],
      ['a.ts', 'released', '2026-01-01T00:00:00.000Z'],
      ['src/**', 'active', '2026-01-01T01:00:00.000Z'],
    ])
    const { out, err } = await run(['active', slug, '--limit', '1'])
    expect([out.split('\n').length, err]).toEqual([3, 'There are more: --limit shows them.\n'])
  })

  verifies('cli.leases.list', 'shows what expires soon, the next first', async () => {
    const { slug, run } = await start()
    const soon = async (...args: string[]) =>
      JSON.parse((await run(['soon', slug, '--json', ...args])).out).file_reservations.map(
        ({ path_pattern }: { path_pattern: string }) => path_pattern,
      )
    expect(await soon()).toEqual(['docs'])
    expect(await soon('--minutes', '60')).toEqual(['docs', 'src/**'])
    expect(await soon('--minutes', '9')).toEqual([])
  })

  verifies('cli.leases.list', 'answers programs with JSON and people with columns', async () => {
    const { slug, run } = await start()
    const { out } = await run(['active', project, '--json'])
    expect(out).not.toContain('\u001b')
    expect(JSON.parse(out)).toEqual({
      project: slug,
      file_reservations: [
        {
          id: expect.any(Number),
          agent: 'BlueLake',
          path_pattern: 'docs',
          exclusive: false,
          reason: 'words\u001b[31m',
          created_ts: '2026-01-01T00:00:00.000Z',
          expires_ts: '2026-01-01T00:10:00.000Z',
          released_ts: null,
        },
        expect.objectContaining({ agent: 'GreenCastle', path_pattern: 'src/**', exclusive: true }),
      ],
      count: 2,
      has_more: false,
    })
    const lines = (await run(['list', slug, '--no-active-only'], true)).out.split('\n')
    expect(lines).toEqual([
      'ID  AGENT        PATTERN  MODE       STATE     ENDS       REASON',
      ' 4  BlueLake     docs     shared     active    in 10 min  words␛[31m',
      ' 3  GreenCastle  b.ts     exclusive  expired   just now',
      ' 2  GreenCastle  a.ts     exclusive  released  10 s ago',
      ' 1  GreenCastle  src/**   exclusive  active    in 60 min',
      '',
    ])
    expect((await run(['soon', '/srv/empty'], true)).err).toMatch(/^Nothing expires within 30 min in empty-\w+\.\n$/)
    expect((await run(['active', '/srv/empty'], true)).err).toMatch(/^Nothing is reserved in empty-\w+\.\n$/)
  })
})
