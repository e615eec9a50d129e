/** `parley projects`: lists all projects with what hangs on them, makes one of two, and gives one another key. */
import type { Command } from 'commander'
import { local } from '../../../core/access/callers.ts'
import {
  listWithFigures,
  type Merge,
  mergeProjects,
  planMerge,
  renameProject,
} from '../../../core/transfers/merging.ts'
import { toProject } from '../../words/profiles.ts'
import { confirm, newCommand, type Open, outJson, outList, tellingPeople, withHub, withJson } from '../commands.ts'
import { harmlessLine } from '../terminal/harmless.ts'
import { count, when } from '../terminal/phrases.ts'
import type { Screen } from '../terminal/screen.ts'

interface MergeOptions {
  readonly dryRun?: true
  readonly force?: true
  readonly json?: true
}

/** `needUnused` throws while another process has the store open: it remembers agents and projects by their numbers. */
export function projectsCommand(open: Open, needUnused: () => Promise<void>, screen: Screen): Command {
  const command = newCommand('projects', screen).description(
    'list the projects, make one of two, or give one another key: list, merge, rename',
  )

  const list = command.command('list').description('list the projects with their agents, threads, messages and leases')
  withJson(list, 'projects list').action((options: { json?: true }) =>
    withHub(open, screen, async (hub) => {
      const projects = await listWithFigures(hub, local)
      return outList(screen, options, {
        document: { projects: projects.map((each) => ({ ...toProject(each), ...figures(each) })) },
        rows: projects,
        columns: {
          slug: ['left', ({ slug }) => slug],
          key: ['shrinks', ({ key }) => key],
          agents: ['right', ({ agents }) => agents],
          threads: ['right', ({ threads }) => threads],
          messages: ['right', ({ messages }) => messages],
          reservations: ['right', ({ leases }) => leases],
          created: ['left', ({ createdAt }) => when(screen, createdAt, hub.clock.now())],
        },
      })
    }),
  )

  const merge = command
    .command('merge')
    .description('move everything of a project into another; agents of one name become one agent')
    .argument('<from>', 'the project that goes: its slug or key, which mean the other one from then on')
    .argument('<into>', 'the project that stays')
    .option('--dry-run', 'only show the changes, and make none; works beside a running server')
    .option('--force', 'do it without asking')
  withJson(
    merge,
    'projects merge app-3f9a1c /srv/code/app --dry-run',
    'projects merge app-3f9a1c /srv/code/app --force',
  ).action((from: string, into: string, { dryRun, force, json }: MergeOptions) =>
    tellingPeople(screen, async () => {
      if (!dryRun) await needUnused()
      await withHub(open, screen, async (hub) => {
        const planned = await planMerge(hub, local, from, into)
        if (!json) await screen[dryRun ? 'out' : 'err'](listed(planned))
        if (dryRun) return json ? outJson(screen, toAnswer(planned, false)) : undefined
        if (!force) await confirm(screen, asking(planned))
        const merged = await mergeProjects(hub, local, from, into)
        if (json) return outJson(screen, toAnswer(merged, true))
        await screen.out(`${merged.from.slug} is a part of ${merged.into.slug} now.\n`)
        await screen.note('The next `parley serve` rebuilds the archive.')
      })
    }),
  )

  const rename = command
    .command('rename')
    .description('give a project another key, where its folder has moved; its slug stays')
    .argument('<project>', 'its slug or key')
    .argument('<new_key>', 'the absolute path of its folder')
  withJson(rename, 'projects rename app-3f9a1c /srv/code/app').action(
    (project: string, newKey: string, { json }: { json?: true }) =>
      tellingPeople(screen, async () => {
        await needUnused()
        await withHub(open, screen, async (hub) => {
          const renamed = await renameProject(hub, local, project, newKey)
          if (json) return outJson(screen, toProject(renamed))
          await screen.out(`${renamed.slug} has the key ${harmlessLine(renamed.key)} now.\n`)
        })
      }),
  )

  return command
}

type Figured = Pick<Merge['from'], 'agents' | 'threads' | 'messages' | 'leases'>

const figures = ({ agents, threads, messages, leases }: Figured) => ({ agents, threads, messages, leases })

function listed({ from, into, agents, renamed }: Merge): string {
  const told = ({ slug, key, ...each }: Merge['from']) =>
    `${slug} (${key}): ${count(each.agents, 'agent')}, ${count(each.threads, 'thread')}, ${count(each.messages, 'message')}, ${count(each.leases, 'reservation')}`
  return [
    `from  ${told(from)}`,
    `into  ${told(into)}`,
    ...agents.map((name) => `one agent of two: ${name}`),
    ...renamed.map((each) => `renamed, because both have it: ${each.from} → ${each.to}`),
  ]
    .map((line) => `  ${harmlessLine(line)}\n`)
    .join('')
}

const asking = ({ from, into }: Merge) => ({
  would: `would move all of ${from.slug} into ${into.slug}, which cannot be undone`,
  does: `moves all of ${from.slug} into ${into.slug}, which cannot be undone`,
  not: 'Nothing was merged.',
})

const toAnswer = ({ from, into, agents, renamed }: Merge, merged: boolean) => ({
  merged,
  from: { ...toProject(from), ...figures(from) },
  into: { ...toProject(into), ...figures(into) },
  agents,
  renamed,
})
