/** `parley init` composed: the user's folders, git, the stored keys and the table of clients. */
import { HubError } from '../base/errors.ts'
import { agentNamePattern, agentNameRule } from '../base/names.ts'
import { carryOut } from '../client-settings/carry-out.ts'
import type { Places, Scope } from '../client-settings/client.ts'
import { type ClientName, clientNames, clientOf } from '../client-settings/clients.ts'
import { realPath } from '../client-settings/files.ts'
import { installedClients } from '../client-settings/installed.ts'
import { type PlannedFile, type Planning, planPutting, planTaking, type WantedFile } from '../client-settings/plan.ts'
import { scopeOfOwner } from '../client-settings/record.ts'
import { type Setup, wantedFiles } from '../client-settings/setup.ts'
import type { Initialising, InitOptions, InitPlan } from '../doors/cli/operating/init.ts'
import { gitRoot } from '../folders/git-root.ts'
import type { Config } from '../settings/all.ts'
import { homeOf, initRecord, recordFile } from './clients-set-up.ts'
import { type GitPlaces, gitPlaces, trackedFiles } from './init-git.ts'
import { hookingFor, keepKeyFiles } from './init-hooks.ts'
import { serverFor } from './init-server.ts'

type Environment = Readonly<Record<string, string | undefined>>

interface InitSurroundings {
  readonly env: Environment
  readonly checkout?: string | undefined
  readonly config: () => Config
}

export function initialising(around: InitSurroundings): Initialising {
  const { env } = around
  const within = (folder: string, ...others: string[]): string[] => [homeOf(env), folder, ...others]
  return {
    async plan(names, options) {
      const { places, scope, repository } = placesOf(options, env)
      const git = repository && scope === 'here' ? await gitPlaces(places.folder) : undefined
      const planning = { record: initRecord(env), within: within(places.folder, ...(git ? [git.folder] : [])) }
      const wanted = names.map((name) => clientNames.find((one) => one === name)).filter((name) => name !== undefined)
      const key = scope === 'user' ? 'user' : places.folder
      if (options.uninstall) return planUninstall(wanted, { places, scope, key, planning })
      const asked = wanted.length > 0 ? wanted : installedClients(places)
      const userOnly = scope === 'here' ? asked.filter((name) => clientOf(name).here === undefined) : []
      const chosen = asked.filter((name) => !userOnly.includes(name))
      const choice = await serverFor(options, { ...around, places })
      const { server, url, door, agent, project } = choice
      const hooking = options.hooks === false ? undefined : hookingFor(choice, { scope, places, hold: options.hold })
      const setup: Setup = {
        ...{ scope, places, server, agent, project, allow: options.allow ?? false, hooking: hooking?.hooking },
        guidance: door === 'mail',
        excludeFile: git?.exclude,
      }
      const files = await planFiles(chosen, setup, { key, planning, git })
      const hooked = hooking !== undefined
      const given = { scope, agent, allow: setup.allow, by: server.by, hooks: hooked, hold: options.hold ?? false }
      const todo = [...choice.todo, ...(hooking?.todo ?? [])]
      const steps = chosen.flatMap((client) =>
        clientOf(client)
          .todo(given)
          .map((says) => ({ client, says })),
      )
      return {
        ...{ scope, folder: places.folder, server: url, clients: chosen, userOnly, files, elsewhere: [] },
        todo: chosen.length === 0 ? [] : [...todo.map((says) => ({ client: '', says })), ...steps],
      }
    },
    carryOut({ files, folder }) {
      const done = carryOut(files, { recordFile: recordFile(env), within: within(folder) })
      return [...done, ...keepKeyFiles(env)]
    },
  }
}

/** In a repository its root; a home folder that is one stays a home folder. */
function placesOf(options: InitOptions, env: Environment): { places: Places; scope: Scope; repository: boolean } {
  const home = homeOf(env)
  const cwd = process.cwd()
  const root = gitRoot(cwd)
  const repository = root !== undefined && root !== realPath(home)
  const scope = options.user || (!options.here && !repository) ? 'user' : 'here'
  if (options.agent !== undefined && !agentNamePattern.test(options.agent))
    throw new HubError('INVALID_ARGUMENT', `--agent must be a name: ${agentNameRule}.`)
  return { places: { home, folder: root ?? cwd, env, platform: process.platform }, scope, repository }
}

/** A client whose settings git shares gets none: a name or an address of this machine would go to everybody. */
async function planFiles(
  chosen: readonly ClientName[],
  setup: Setup,
  { key, planning, git }: { key: string; planning: Planning; git: GitPlaces | undefined },
): Promise<PlannedFile[]> {
  const all = chosen.flatMap((name) => wantedFiles(name, setup))
  const settings = all.filter(({ format }) => format === 'json' || format === 'toml' || format === 'script')
  const inside = settings.map(({ file }) => file).filter((file) => file.startsWith(setup.places.folder))
  const tracked = git === undefined ? [] : await trackedFiles(git, setup.places.folder, inside)
  const shared = settings.filter(({ file }) => tracked.includes(file))
  const refused = new Set(shared.map(({ client }) => client))
  return [
    ...planPutting(
      all.filter(({ client }) => !refused.has(client)),
      key,
      planning,
    ),
    ...shared.map(({ client, file }: WantedFile): PlannedFile => {
      const why = `git shares it, and init writes files of this machine alone. Use: parley init ${client} --user`
      return { file, path: file, clients: [client], ...nothing, left: [why] }
    }),
  ]
}

const nothing = { before: undefined, after: undefined, mode: undefined, record: undefined, base: undefined }

function planUninstall(
  names: readonly ClientName[],
  { places, scope, key, planning }: { places: Places; scope: Scope; key: string; planning: Planning },
): InitPlan {
  const files = planTaking({ clients: names.length === 0 ? undefined : names, scope: key }, planning)
  const owners = Object.values(planning.record).flatMap(({ edits }) => edits.flatMap((one) => one.owners))
  const scopes = new Set(owners.map(scopeOfOwner))
  return {
    ...{ scope, folder: places.folder, userOnly: [], todo: [], files },
    clients: [...new Set(files.flatMap(({ clients }) => clients))],
    elsewhere: [...scopes].filter((one) => one !== key),
  }
}
