/** `parley list-projects`, for a person at a terminal and for a program. */
import { expect } from 'vitest'
import { local } from '../../../src/core/access/callers.ts'
import { register } from '../../../src/core/agents/registration.ts'
import { ensureProject } from '../../../src/core/projects/projects.ts'
import { listProjectsCommand } from '../../../src/doors/cli/mail/projects.ts'
import { TestClock } from '../../support/clock.ts'
import { eachEngine } from '../../support/engines.ts'
import { openTestHub } from '../../support/hub.ts'
import { testScreen } from '../../support/screen.ts'
import { verifies } from '../../support/verifies.ts'

eachEngine('list-projects', (open) => {
  const start = async () => {
    const database = await open()
    const clock = new TestClock()
    const connect = async () => openTestHub(await database.connect(), { clock })
    const hub = await connect()
    const web = await ensureProject(hub, local, '/srv/code/web')
    for (const name of ['GreenCastle', 'BlueLake'])
      await register(hub, local, { project: web.key, name, program: 'codex\u001b[31m', model: 'm' })
    const empty = await ensureProject(hub, local, '/srv/empty')
    await hub.close()
    clock.advance(3_600_000)
    return {
      web,
      empty,
      async run(args: string[], tty = false) {
        const { seen, screen } = testScreen({ tty })
        await listProjectsCommand(connect, screen).parseAsync(args, { from: 'user' })
        return seen
      },
    }
  }

  verifies('cli.projects.list', 'shows each project with how many agents it has', async () => {
    const { web, empty, run } = await start()
    const { out } = await run([])
    const rows = out.split('\n').map((line) => line.split('\t'))
    expect(rows[0]).toEqual(['slug', 'key', 'agents', 'created'])
    expect(rows[1]?.slice(0, 3)).toEqual(['commons', 'commons', '0'])
    expect(rows.slice(2)).toEqual([
      [web.slug, '/srv/code/web', '2', '2026-01-01T00:00:00.000Z'],
      [empty.slug, '/srv/empty', '0', '2026-01-01T00:00:00.000Z'],
      [''],
    ])
    expect((await run([], true)).out).toMatch(new RegExp(`${web.slug} +/srv/code/web +2 +1 h ago\\n`))
    expect(await run(['--limit', '2'])).toEqual({
      out: `${out.split('\n').slice(0, 3).join('\n')}\n`,
      err: 'There are more projects; without --limit all are shown.\n',
    })
    expect((await run(['--limit', '3'])).err).toBe('')
  })

  verifies('cli.projects.list', 'shows the agents too, and lets none of them steer a terminal', async () => {
    const { web, empty, run } = await start()
    const { out } = await run(['--include-agents'])
    const rows = out.split('\n').map((line) => line.split('\t'))
    expect(rows.slice(2)).toEqual([
      [web.slug, 'BlueLake', 'codex␛[31m', 'm', '0', '2026-01-01T00:00:00.000Z'],
      [web.slug, 'GreenCastle', 'codex␛[31m', 'm', '0', '2026-01-01T00:00:00.000Z'],
      [empty.slug, '', '', '', '', ''],
      [''],
    ])
    expect((await run(['--include-agents'], true)).out).toMatch(/BlueLake +codex␛\[31m +m +0 +1 h ago\n/)
  })

  verifies(['cli.projects.list', 'all.lists.onwards'], 'answers with JSON', async () => {
    const { web, run } = await start()
    const { out } = await run(['--json', '--include-agents', '--limit', '2'])
    expect(out).not.toContain('\u001b')
    expect(JSON.parse(out)).toEqual({
      projects: [
        expect.objectContaining({ slug: 'commons', agents: [] }),
        {
          id: web.id,
          slug: web.slug,
          human_key: '/srv/code/web',
          created_at: '2026-01-01T00:00:00.000Z',
          agent_count: 2,
          agents: [
            expect.objectContaining({ name: 'BlueLake', model: 'm', unread_count: 0 }),
            expect.objectContaining({ name: 'GreenCastle', last_active_ts: '2026-01-01T00:00:00.000Z' }),
          ],
        },
      ],
      count: 2,
      has_more: true,
      note: expect.stringMatching(/without --limit/),
    })
    expect(JSON.parse((await run(['--json'])).out).projects[1]).not.toHaveProperty('agents')
  })
})
