/** File reservations at the mail door. */
import { beforeEach, describe, expect, test } from 'vitest'
import { connectMail, type Desk, newDesk } from '../../support/mail.ts'
import { eras, shareServer } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

const parley = shareServer()

interface Reservation {
  id: number
  path_pattern: string
  exclusive: boolean
  reason: string
  expires_ts: string
}

interface Reserved {
  granted: Reservation[]
  conflicts: { path: string; holders: { agent: string }[] }[]
}

const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const secondsFromNow = ({ expires_ts }: { expires_ts: string }) => (Date.parse(expires_ts) - Date.now()) / 1000

const calls = ({ door, project }: Desk, agent_name: string) => {
  const call = <Value = Record<string, unknown>>(tool: string, args: Record<string, unknown>) =>
    door.call<Value>(tool, { project_key: project, agent_name, ...args })
  return {
    reserve: (paths: string[], more = {}) => call<Reserved>('file_reservation_paths', { paths, ...more }),
    release: (more = {}) => call('release_file_reservations', more),
    renew: (more = {}) => call<{ renewed: number; file_reservations: Reservation[] }>('renew_file_reservations', more),
  }
}

const listed = ({ door, project }: Desk, query = '') =>
  door.read<(Reservation & { agent: string; released_ts: string | null })[]>(
    `resource://file_reservations/${encodeURIComponent(project)}${query}`,
  )

describe.each(eras)('A client of %s', (era) => {
  verifies(
    ['mail.lease.tools', 'mail.lease.reasons'],
    'reserves, is told who else does, renews and releases',
    async () => {
      const desk = await newDesk(parley(), await connectMail(parley(), era))
      const [green, blue] = [calls(desk, 'GreenCastle'), calls(desk, 'BlueLake')]
      const first = await green.reserve(['src/**'], { reason: 'bd-123', ttl_seconds: 7200 })
      expect(first).toEqual({
        granted: [
          { id: expect.any(Number), path_pattern: 'src/**', exclusive: true, reason: 'bd-123', expires_ts: iso },
        ],
        conflicts: [],
      })
      expect(secondsFromNow(first.granted[0] as Reservation)).toBeCloseTo(7200, -2)
      const second = await blue.reserve(['./src/api/*.ts', 'docs/'], { exclusive: false })
      expect(second).toMatchObject({
        granted: [
          { path_pattern: 'src/api/*.ts', exclusive: false, reason: '' },
          { path_pattern: 'docs', exclusive: false },
        ],
      })
      expect(second.conflicts).toEqual([
        {
          path: 'src/api/*.ts',
          holders: [
            { agent: 'GreenCastle', path_pattern: 'src/**', exclusive: true, reason: 'bd-123', expires_ts: iso },
          ],
        },
      ])
      expect(secondsFromNow(second.granted[0] as Reservation)).toBeCloseTo(3600, -2)

      const id = second.granted[0]?.id
      const renewed = await blue.renew({ file_reservation_ids: [String(id)] })
      expect(renewed).toMatchObject({ renewed: 1, file_reservations: [{ id, path_pattern: 'src/api/*.ts' }] })
      expect(secondsFromNow(renewed.file_reservations[0] as Reservation)).toBeCloseTo(5400, -2)
      expect(await blue.renew({ paths: ['docs'], extend_seconds: 60 })).toMatchObject({ renewed: 1 })

      expect(await blue.release({ file_reservation_ids: [id] })).toEqual({ released: 1, released_at: iso })
      expect(await blue.release()).toEqual({ released: 1, released_at: iso })
      expect(await blue.release()).toMatchObject({ released: 0 })
      expect(await green.release({ paths: ['src/**'] })).toMatchObject({ released: 1 })
      expect(await listed(desk)).toEqual([])
    },
  )

  verifies('mail.lease.resource', 'reads the reservations of a project, by slug or key, page by page', async () => {
    const desk = await newDesk(parley(), await connectMail(parley(), era))
    const green = calls(desk, 'GreenCastle')
    await green.reserve(['a', 'b', 'c', 'd'])
    await green.release({ paths: ['c'] })
    const all = await listed(desk, '?active_only=false')
    expect(all.map(({ path_pattern }) => path_pattern)).toEqual(['d', 'c', 'b', 'a'])
    expect(all[1]).toEqual({
      id: expect.any(Number),
      agent: 'GreenCastle',
      path_pattern: 'c',
      exclusive: true,
      reason: '',
      created_ts: iso,
      expires_ts: iso,
      released_ts: iso,
    })
    const { slug } = await desk.door.call<{ slug: string }>('ensure_project', { human_key: desk.project })
    const page = await desk.door.read<Reservation[]>(`resource://file_reservations/${slug}?limit=2`)
    expect(page.map(({ path_pattern }) => path_pattern)).toEqual(['d', 'b'])
    const rest = await listed(desk, `?limit=2&before=${page.at(-1)?.id}`)
    expect(rest).toMatchObject([{ path_pattern: 'a', released_ts: null }])
    await expect(listed(desk, '?limit=0')).rejects.toThrow('limit')
    await expect(desk.door.read('resource://file_reservations/nowhere')).rejects.toThrow('nowhere')
  })
})

describe('A reservation', () => {
  let desk: Desk
  beforeEach(async () => {
    desk = await newDesk(parley())
  })

  verifies('mail.lease.refuse', 'is refused on demand where somebody else holds a path, and only there', async () => {
    const [green, blue] = [calls(desk, 'GreenCastle'), calls(desk, 'BlueLake')]
    const both = await Promise.all(
      [green, blue].map(({ reserve }) => reserve(['src/**', 'src/*.ts'], { on_conflict: 'refuse' })),
    )
    expect(both.map(({ granted }) => granted.length).sort()).toEqual([0, 2])
    expect(both.map(({ conflicts }) => conflicts.length).sort()).toEqual([0, 2])
  })

  verifies('mail.lease.bad-glob', 'with a bad pattern is an error that says so, and reserves nothing', async () => {
    const { reserve } = calls(desk, 'GreenCastle')
    await expect(reserve(['docs/**', 'src/{a,b'])).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('The pattern "src/{a,b" has a "{" without its "}"'),
      hint: expect.stringContaining('src/api/*.ts'),
    })
    expect(await listed(desk, '?active_only=false')).toEqual([])
  })

  test.each([
    ['no paths', { paths: [] }],
    ['a time of no length', { paths: ['a'], ttl_seconds: 0 }],
    ['an unknown way', { paths: ['a'], on_conflict: 'steal' }],
  ])('with %s is refused', async (_, args) => {
    await expect(calls(desk, 'GreenCastle').reserve(args.paths, args)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
  })

  test('of a path inside the folder of the project may be absolute', async () => {
    const { reserve } = calls(desk, 'GreenCastle')
    expect(await reserve([`${desk.project}/src/a.ts`])).toMatchObject({ granted: [{ path_pattern: 'src/a.ts' }] })
    await expect(reserve(['/etc/passwd'])).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })

  verifies('mail.lease.longest', 'is for thirty days at most, also when it is renewed', async () => {
    const { reserve, renew } = calls(desk, 'GreenCastle')
    const most = 30 * 86_400
    const { granted } = await reserve(['a'], { ttl_seconds: most })
    expect(granted).toMatchObject([{ path_pattern: 'a' }])
    const tooLong = { code: 'INVALID_ARGUMENT', message: expect.stringContaining(`at most ${most}`) }
    await expect(reserve(['b'], { ttl_seconds: most + 1 })).rejects.toMatchObject(tooLong)
    await expect(renew({ extend_seconds: most + 1 })).rejects.toMatchObject(tooLong)
    const macro = (tool: string, args: object) => desk.door.call(tool, { ...args })
    const me = { project_key: desk.project, agent_name: 'GreenCastle', paths: ['b'] }
    await expect(macro('macro_file_reservation_cycle', { ...me, ttl_seconds: most + 1 })).rejects.toMatchObject(tooLong)
    await expect(
      macro('macro_start_session', { human_key: desk.project, file_reservation_ttl_seconds: most + 1 }),
    ).rejects.toMatchObject(tooLong)
    const { file_reservations } = await renew({ extend_seconds: most })
    expect(secondsFromNow(file_reservations[0] as Reservation)).toBeCloseTo(most, -2)
  })

  verifies('mail.lease.empty-list', 'is not released by an empty list', async () => {
    const { reserve, release, renew } = calls(desk, 'GreenCastle')
    await reserve(['a'])
    for (const empty of [{ paths: [] }, { file_reservation_ids: [] }, { paths: ['a'], file_reservation_ids: [] }])
      for (const change of [release, renew])
        await expect(change(empty)).rejects.toMatchObject({
          code: 'INVALID_ARGUMENT',
          message: expect.stringContaining('leave it out'),
        })
    expect(await listed(desk)).toMatchObject([{ path_pattern: 'a' }])
  })

  verifies('mail.lease.conflict-seen', 'that others hold too is answered with them first, in a sentence', async () => {
    const [green, blue] = [calls(desk, 'GreenCastle'), calls(desk, 'BlueLake')]
    await green.reserve(['src/**', 'docs'])
    const granted = await blue.reserve(['src/a.ts', 'docs/b.md', 'lib'])
    expect(Object.keys(granted)).toEqual(['conflicts', 'note', 'granted'])
    expect(granted).toHaveProperty(
      'note',
      expect.stringMatching(
        /^2 of 3 paths are held by GreenCastle until \d{4}-\S+Z: src\/a.ts, docs\/b.md\. You were granted them all the same/,
      ),
    )
    const half = await blue.reserve(['src/d.ts', 'free/too'])
    expect(half).toHaveProperty('note', expect.stringMatching(/^1 of 2 paths is held by GreenCastle/))
    const refused = await blue.reserve(['src/c.ts'], { on_conflict: 'refuse' })
    expect(refused).toHaveProperty('note', expect.stringMatching(/^1 of 1 path is held by .* They were not granted/))
    expect(await blue.reserve(['free'])).not.toHaveProperty('note')
  })

  verifies('mail.lease.renewed-nothing', 'that is not held is not renewed, and the answer says why', async () => {
    const { reserve, renew } = calls(desk, 'GreenCastle')
    expect(await renew({ paths: ['src/**'] })).toMatchObject({ renewed: 0, note: expect.stringContaining('reserve') })
    await reserve(['src/**'])
    expect(await renew({ paths: ['src/**'] })).not.toHaveProperty('note')
  })

  verifies('mail.lease.nothing-freed', 'that is not there is answered with those that are', async () => {
    const { reserve, release } = calls(desk, 'GreenCastle')
    expect(await release()).toEqual({ released: 0, released_at: iso, note: expect.stringContaining('you hold no') })
    await reserve(['src/**', 'docs'], { reason: 'T-1' })
    expect(await release({ paths: ['src/api/*.ts'] })).toEqual({
      released: 0,
      released_at: iso,
      note: expect.stringContaining('You hold: src/**, docs.'),
      file_reservations: [
        { id: expect.any(Number), path_pattern: 'src/**', exclusive: true, reason: 'T-1', expires_ts: iso },
        { id: expect.any(Number), path_pattern: 'docs', exclusive: true, reason: 'T-1', expires_ts: iso },
      ],
      has_more: false,
    })
    expect(await release()).toEqual({ released: 2, released_at: iso })
  })

  verifies('mail.lease.brackets', 'of a folder in brackets covers the file of that name', async () => {
    const [green, blue] = [calls(desk, 'GreenCastle'), calls(desk, 'BlueLake')]
    await green.reserve(['app/[id]/page.tsx'])
    expect(await blue.reserve(['app/[id]'])).toMatchObject({
      conflicts: [{ path: 'app/[id]', holders: [{ agent: 'GreenCastle', path_pattern: 'app/[id]/page.tsx' }] }],
    })
  })

  test('needs an agent that has registered', async () => {
    await expect(calls(desk, 'Nobody').reserve(['a'])).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' })
  })
})
