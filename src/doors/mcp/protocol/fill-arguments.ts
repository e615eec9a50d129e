/** Fills in the arguments that the connection answers: who calls, and in which project (identity.arguments.filled). */
import { HubError } from '../../../base/errors.ts'
import { echo } from '../../../base/text.ts'
import type { Self } from '../../../core/agents/connection.ts'
import type { CallContext, Connection, Own } from '../table.ts'
import { folderOf } from './folder.ts'
import { isRecord, type Json } from './json.ts'
import type { Incoming } from './methods.ts'
import type { Service, ToolRow } from './service.ts'

/** The arguments as the tool reads them. A call that names itself, on a connection that tells nothing, is left as it is. */
export async function fillOwn<Scope>(
  service: Service<Scope>,
  incoming: Incoming<Scope>,
  { tool }: ToolRow<Scope>,
): Promise<unknown> {
  const { connection } = service.door
  const { exchange, params } = incoming
  const { own } = tool
  const args = params.arguments ?? {}
  if (own === undefined || connection === undefined || !isRecord(args)) return params.arguments
  const given = tool.accept === undefined ? args : tool.accept(args)
  const { agent, project, aloud } = connection.tells(exchange)
  const lacks = lacksIn(given)
  if (!aloud && !lacks(own.project) && !(agent && lacks(own.agent))) return params.arguments
  const folder = lacks(own.project) && !project ? () => folderOf(service, incoming) : undefined
  const self = await connection.self(exchange, folder)
  exchange.self = self
  if (aloud && !(lacks(own.agent) && lacks(own.project)))
    await compare({ connection, context: exchange, self, own, given })
  return filled(own, given, self)
}

/** The variables of a resource's URI, by their names. */
type Variables = Readonly<Record<string, string>>

/**
 * The same for a resource. A URI that names somebody else, or another project, means just that: it is an address, and the
 * verb asks whether the caller may read there.
 */
export async function fillVariables<Scope>(
  service: Service<Scope>,
  incoming: Incoming<Scope>,
  { own, given }: { own: Own | undefined; given: Variables },
): Promise<Variables> {
  const { connection } = service.door
  const { exchange } = incoming
  const lacks = lacksIn(given)
  if (own === undefined || connection === undefined || !(lacks(own.agent) || lacks(own.project))) return given
  const { agent, project } = connection.tells(exchange)
  const named = own.agent === undefined ? undefined : given[own.agent]
  // A name with its project behind it needs no other; one without is found by itself, if it is the only one.
  if (named?.includes('@') || (named !== undefined && !project) || (lacks(own.agent) && !agent)) return given
  const folder = lacks(own.project) && !project ? () => folderOf(service, incoming) : undefined
  return filled(own, given, await connection.self(exchange, folder))
}

const lacksIn = (given: Json) => (name: string | undefined) => name !== undefined && (given[name] ?? null) === null

function filled<Given extends Json>(own: Own, given: Given, { name, project, worktree }: Self): Given {
  const lacks = lacksIn(given)
  const added: Record<string, string> = {}
  if (own.agent !== undefined && lacks(own.agent) && name !== undefined) added[own.agent] = name
  // A worktree is one more name of its project, and the one by which its files are found.
  const place = worktree ?? project
  if (own.project !== undefined && lacks(own.project) && place !== undefined) added[own.project] = place
  return { ...given, ...added }
}

interface Comparing<Scope> {
  readonly connection: Connection<Scope>
  readonly context: CallContext<Scope>
  readonly self: Self
  readonly own: Own
  readonly given: Json
}

/** Arguments that are given all the same must agree: to act as somebody else is a mistake, of the call or of the settings. */
async function compare<Scope>({ connection, context, self, own, given }: Comparing<Scope>): Promise<void> {
  for (const part of ['project', 'agent'] as const) {
    const [argument, told] = [own[part], part === 'agent' ? self.name : self.project]
    const value = argument === undefined ? undefined : given[argument]
    if (argument === undefined || told === undefined || typeof value !== 'string') continue
    const as = part === 'agent' ? { name: value } : { project: value }
    if (await connection.agrees(context, self, as)) continue
    const shown = [value, told].map((text) => JSON.stringify(echo(text)))
    throw new HubError(
      'INVALID_ARGUMENT',
      `Argument "${argument}" is ${shown[0]}, but your connection says ${shown[1]}.`,
      { hint: `Leave ${argument} out: the connection decides. If it is wrong, mend ${mendable[part]}.` },
    )
  }
}

const mendable = {
  agent: 'the header X-Parley-Agent, ?agent= on the URL, or the key that your client sends',
  project: '?project= on the URL, or the key that your client sends',
} as const
