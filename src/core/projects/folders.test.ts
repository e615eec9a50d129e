/** Folders of this machine as projects: spellings, links, worktrees, folders inside of others, and forgeries of them. */
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sql from 'sql-template-tag'
import { expect, onTestFinished, vi } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { dbOf } from '../../../test/support/feed.ts'
import { openTestHub, type TestHubOptions } from '../../../test/support/hub.ts'
import { initRepository } from '../../../test/support/repository.ts'
import { gitOutput } from '../../../test/support/starter.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { agentCaller, local, operator, person, tokenCaller } from '../access/callers.ts'
import { ensureAgent } from '../agents/agents.ts'
import { ensureProjectOfFolder, noteOnKey, openProject, projectOfFolder } from './folders.ts'
import { ensureProject, findPlace, listProjects, needProject } from './projects.ts'

/** A folder that goes away with the test. */
function newFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'parley-folders-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function repository(folder: string): Promise<string> {
  await initRepository(folder)
  const as = ['-c', 'user.name=t', '-c', 'user.email=t@example.org']
  await gitOutput([...as, 'commit', '-q', '--allow-empty', '-m', 'first'], { cwd: folder })
  return folder
}

async function worktree(main: string, folder: string): Promise<string> {
  await gitOutput(['worktree', 'add', '-q', '--detach', folder], { cwd: main })
  return folder
}

eachEngine('A folder', (open) => {
  const start = async (options?: TestHubOptions) => openTestHub(await (await open()).connect(), options)

  verifies('mail.project.spellings', 'is one project however it is written, at every verb', async () => {
    const hub = await start()
    const made = await ensureProject(hub, local, '/a//b/')
    expect(made.key).toBe('/a/b')
    for (const spelling of ['/a/b', '/a/./b', '/a/b/../b', ' /a/x/../b/. ']) {
      expect(await needProject(hub, local, spelling)).toEqual(made)
      expect(await ensureProject(hub, tokenCaller('t', true), spelling)).toEqual(made)
    }
    const drive = await ensureProject(hub, local, 'C:\\x')
    for (const spelling of ['c:/x', 'C:/x/', 'c:\\y\\..\\x'])
      expect(await ensureProject(hub, local, spelling)).toEqual(drive)
    expect((await listProjects(hub, local, { limit: 10 })).projects).toHaveLength(3)
    await hub.close()
  })

  verifies('mail.project.spellings', 'of an older store is found by its spelling and by the tidy one', async () => {
    const hub = await start()
    for (const [slug, key, folder] of [
      ['one', '/old//app', '/old/app'],
      ['two', 'D:\\Code', 'd:/Code'],
      ['three', '/old/twice', '/old/twice'],
      ['four', '/old//twice', '/old/twice'],
    ] as const)
      await dbOf(hub).tx((tx) =>
        tx.all(sql`INSERT INTO projects (slug, human_key, folder, created_at) VALUES (${slug}, ${key}, ${folder}, 0)`),
      )
    for (const [asked, slug] of [
      ['/old//app', 'one'],
      ['/old/app', 'one'],
      ['/old/./app/', 'one'],
      ['d:/Code', 'two'],
      // Two projects of one folder stay two until somebody merges them.
      ['/old/twice', 'three'],
      ['/old//twice', 'four'],
      ['/old/./twice', 'three'],
    ] as const)
      expect(await ensureProject(hub, local, asked), asked).toMatchObject({ slug })
    await hub.close()
  })

  verifies('mail.project.real', 'that is a link or a worktree means its target, for those who are here', async () => {
    const hub = await start()
    const root = newFolder()
    const main = await repository(join(root, 'app'))
    const tree = await worktree(main, join(root, 'feature'))
    mkdirSync(join(tree, 'src'))
    symlinkSync(main, join(root, 'link'))
    for (const caller of [local, operator]) {
      expect(await findPlace(hub, caller, tree)).toEqual({ newKey: main })
      expect(await findPlace(hub, caller, join(root, 'link'))).toEqual({ newKey: main })
    }
    const made = await ensureProject(hub, local, tree)
    expect(made.key).toBe(main)
    expect(await needProject(hub, local, join(root, 'link'))).toEqual(made)
    expect((await openProject(hub, local, tree)).note).toContain(`${tree} is a git worktree of ${main}`)
    expect((await openProject(hub, local, join(root, 'link'))).note).toContain('by a link')
    expect(await noteOnKey(hub, local, main)).toBeUndefined()
    expect(await projectOfFolder(hub, local, join(tree, 'src'))).toMatchObject({ place: made })
    // A key or a token may come from another machine, where the same path is another folder.
    for (const caller of [tokenCaller('t', true), person])
      expect(await findPlace(hub, caller, tree)).toEqual({ newKey: tree })
    await hub.close()
  })

  verifies('mail.project.real', 'that is a project already stays one, whatever it leads to', async () => {
    const hub = await start()
    const root = newFolder()
    const main = await repository(join(root, 'app'))
    const tree = await worktree(main, join(root, 'feature'))
    const before = await ensureProject(hub, tokenCaller('t', true), tree)
    await ensureProject(hub, local, main)
    expect(await needProject(hub, local, tree)).toEqual(before)
    expect(await projectOfFolder(hub, local, tree)).toEqual({ place: before, note: undefined })
    await hub.close()
  })

  verifies('mail.project.worktrees-apart', 'that is a worktree is a project of its own where that is set', async () => {
    const hub = await start({ rules: { worktreesApart: true } })
    const root = newFolder()
    const main = await repository(join(root, 'app'))
    const tree = await worktree(main, join(root, 'feature'))
    for (const folder of [main, tree]) expect(await ensureProject(hub, local, folder)).toMatchObject({ key: folder })
    await hub.close()
  })

  verifies('mail.project.forged', 'with a file .git that names another repository is no worktree of it', async () => {
    const hub = await start()
    const root = newFolder()
    const victim = await repository(join(root, 'victim'))
    const real = await worktree(victim, join(root, 'real'))
    const project = await ensureProject(hub, local, victim)
    for (const [name, line] of [
      ['copied', `gitdir: ${victim}/.git/worktrees/real\n`],
      ['straight', `gitdir: ${victim}/.git\n`],
      ['lost', 'gitdir: /nowhere/.git/worktrees/x\n'],
      ['garbage', '\0\0\0'],
      ['huge', `gitdir: ${'x'.repeat(100_000)}`],
    ] as const) {
      const folder = join(root, name)
      mkdirSync(folder)
      writeFileSync(join(folder, '.git'), line)
      expect(await findPlace(hub, local, folder), name).toEqual({ newKey: folder })
      expect(await projectOfFolder(hub, local, folder), name).toMatchObject({ place: { newKey: folder } })
    }
    expect(await findPlace(hub, local, real)).toEqual(project)
    await hub.close()
  })

  verifies(
    'mail.project.forged',
    'of another project is not reached by a spelling or a link of a key’s holder',
    async () => {
      const hub = await start()
      const root = newFolder()
      const [mine, theirs] = [join(root, 'mine'), join(root, 'theirs')]
      for (const folder of [mine, theirs]) mkdirSync(folder)
      symlinkSync(theirs, join(mine, 'link'))
      const holder = agentCaller(await ensureAgent(hub, local, { project: mine, name: 'ann' }))
      await ensureAgent(hub, local, { project: theirs, name: 'ann' })
      for (const path of [`${mine}/../theirs`, `${mine}/./../theirs/`, join(mine, 'link'), theirs])
        for (const find of [needProject, findPlace, projectOfFolder, openProject])
          await expect(find(hub, holder, path)).rejects.toMatchObject({ code: 'PROJECT_NOT_FOUND' })
      expect(await needProject(hub, holder, `${mine}/x/..`)).toMatchObject({ key: mine })
      await hub.close()
    },
  )

  verifies('mail.project.forged', 'behind a link that is changed is told by its own name, and soon', async () => {
    const clock = new TestClock()
    const hub = await start({ clock })
    const root = newFolder()
    for (const name of ['one', 'two']) {
      mkdirSync(join(root, name))
      await ensureProject(hub, local, join(root, name))
    }
    const link = join(root, 'link')
    const point = (name: string) => {
      symlinkSync(join(root, name), `${link}.new`)
      renameSync(`${link}.new`, link)
    }
    for (const name of ['one', 'two']) {
      point(name)
      expect(await projectOfFolder(hub, local, link)).toMatchObject({
        place: { key: join(root, name) },
        note: expect.stringContaining(join(root, name)),
      })
      clock.advance(6000)
    }
    await hub.close()
  })

  verifies('mail.project.home', 'in a home folder that is a project is none of it, without a repository', async () => {
    const hub = await start()
    const home = newFolder()
    vi.stubEnv('HOME', home)
    await ensureProject(hub, local, home)
    const plain = join(home, 'notes')
    mkdirSync(plain)
    expect(await projectOfFolder(hub, local, plain)).toMatchObject({ place: { newKey: plain } })
    // A project between the two is around it all the same.
    const work = await ensureProject(hub, local, join(home, 'work'))
    mkdirSync(join(home, 'work', 'deep'), { recursive: true })
    expect(await projectOfFolder(hub, local, join(home, 'work', 'deep'))).toMatchObject({ place: work })
    // A home folder that is kept in git is one thing.
    await repository(home)
    const dots = join(home, 'dots')
    mkdirSync(dots)
    expect(await projectOfFolder(hub, local, dots)).toMatchObject({ place: { key: home } })
    await hub.close()
  })

  verifies(
    'mail.project.inside',
    'in a project is that project by a connection, and its own by an argument',
    async () => {
      const hub = await start()
      const root = newFolder()
      const app = await ensureProject(hub, local, await repository(join(root, 'app')))
      const inner = join(root, 'app', 'packages', 'web')
      mkdirSync(inner, { recursive: true })
      for (const folder of [inner, join(root, 'app', 'not-there')])
        expect(await projectOfFolder(hub, local, folder)).toEqual({
          place: app,
          note: expect.stringMatching(new RegExp(`lies in the project ${app.slug} \\(${app.key}\\)`)),
        })
      expect(await ensureProjectOfFolder(hub, local, inner)).toMatchObject({ place: app })
      const made = await openProject(hub, local, inner)
      expect(made).toMatchObject({ place: { key: inner }, note: expect.stringContaining(app.slug) })
      // It is known now, and means itself.
      expect(await projectOfFolder(hub, local, inner)).toEqual({ place: made.place, note: undefined })
      expect(await openProject(hub, local, inner)).toEqual({ place: made.place, note: undefined })
      // A repository inside of it has files and people of its own.
      const own = await repository(join(root, 'app', 'vendor', 'lib'))
      mkdirSync(join(own, 'src'))
      for (const folder of [own, join(own, 'src')])
        expect(await projectOfFolder(hub, local, folder)).toMatchObject({ place: { newKey: folder } })
      await hub.close()
    },
  )
})
