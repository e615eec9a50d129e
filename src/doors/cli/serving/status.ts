/** `parley status` and `parley stop`: the servers that run on this store. */
import { type Command, CommanderError } from 'commander'
import type { WaitingList } from '../../words/desk.ts'
import { newCommand, outJson, tellingPeople, withJson } from '../commands.ts'
import { harmlessLine } from '../terminal/harmless.ts'
import { count, size } from '../terminal/phrases.ts'
import type { Screen } from '../terminal/screen.ts'

interface Server {
  readonly pid: number
  readonly url: string
  readonly version: string
  readonly started: string
}

export interface Status {
  readonly version: string
  readonly servers: readonly (Server & { readonly ready: boolean; readonly waiting?: number })[]
  /** The engine, and the file or the host and database. */
  readonly store: string
  /** Of the database and the archives; undefined where they are on another machine. */
  readonly bytes?: number
  /** Messages that their recipients have not read; undefined where no server is there to ask. */
  readonly unread?: number
  /** The agents that wait for mail, or are woken when some comes; undefined where no server is there to ask. */
  readonly agents?: WaitingList['agents']
  readonly clients: readonly { readonly client: string; readonly scope: string }[]
}

/** As `systemctl status` has it. */
const notRunning = 3

export const statusCommand = (statusOf: () => Promise<Status>, screen: Screen): Command =>
  withJson(
    newCommand('status', screen).description(
      'show whether a server runs on this store, its address, and the unread mail; exit code 3 if none runs',
    ),
    'status',
    'status --json',
  ).action(({ json }: { json?: true }) =>
    tellingPeople(screen, async () => {
      const status = await statusOf()
      await (json ? outJson(screen, status) : screen.out(asText(status)))
      if (status.servers.length === 0) throw new CommanderError(notRunning, 'parley.status', '')
    }),
  )

function asText({ version, servers, store, bytes, unread, agents, clients }: Status): string {
  const lines = servers.map(({ url, pid, version: own, ready }) => [
    ready ? 'running' : 'not ready',
    `${url} (process ${pid}${own === version ? '' : `, version ${own}`})`,
  ])
  const asked = servers.length === 0 ? 'no server runs that counts it' : 'the server does not tell'
  const rows = [
    ...(lines.length === 0 ? [['not running', 'Start it with `parley serve --detach`.']] : lines),
    ['version', version],
    ['store', bytes === undefined ? `${store}; \`parley db stats\` tells its size` : `${store}, ${size(bytes)}`],
    ...(agents === undefined ? [] : [['agents', agentsText(agents)]]),
    [
      'unread',
      unread === undefined ? `not known: ${asked}; \`parley inbox\` shows the mail` : count(unread, 'message'),
    ],
    ['clients', clientsText(clients)],
  ]
  return rows.map(([name = '', says = '']) => `${name.padEnd(12)} ${harmlessLine(says)}\n`).join('')
}

/** So many of a kind are named. */
const mostNamed = 5

/** `2 wait for mail: Ann, Bob; 1 is woken when mail comes: Cleo (claude)` */
function agentsText(agents: WaitingList['agents']): string {
  const waiting = agents.filter((agent) => agent.waiting).map(({ name }) => name)
  const woken = agents.filter((agent) => !agent.waiting).map(({ name, via }) => (via ? `${name} (${via})` : name))
  const some = (names: readonly string[]): string =>
    `${names.slice(0, mostNamed).join(', ')}${names.length > mostNamed ? ` and ${names.length - mostNamed} more` : ''}`
  const parts = [
    ...(waiting.length === 0
      ? []
      : [`${waiting.length} ${waiting.length === 1 ? 'waits' : 'wait'} for mail: ${some(waiting)}`]),
    ...(woken.length === 0
      ? []
      : [`${woken.length} ${woken.length === 1 ? 'is' : 'are'} woken when mail comes: ${some(woken)}`]),
  ]
  return parts.length === 0 ? 'none waits now; `parley who` shows who was active' : parts.join('; ')
}

/** `codex, gemini (user); claude (/srv/backend)` */
function clientsText(clients: Status['clients']): string {
  const scopes = Object.entries(Object.groupBy(clients, ({ scope }) => scope))
  const texts = scopes.map(([scope, own = []]) => `${own.map(({ client }) => client).join(', ')} (${scope})`)
  return texts.length === 0 ? 'none set up: `parley init` does it' : texts.join('; ')
}

export const stopCommand = (
  stop: () => Promise<{ stopped: readonly Server[]; left: readonly Server[] }>,
  screen: Screen,
): Command =>
  withJson(
    newCommand('stop', screen).description('stop the servers that run on this store, in good order'),
    'stop',
  ).action(({ json }: { json?: true }) =>
    tellingPeople(screen, async () => {
      const { stopped, left } = await stop()
      if (json) await outJson(screen, { stopped, left })
      else {
        for (const { url, pid } of stopped) await screen.out(`Stopped ${url} (process ${pid}).\n`)
        for (const { url, pid } of left) await screen.out(`Still running: ${url} (process ${pid}).\n`)
        if (stopped.length + left.length === 0) await screen.out('No server runs on this store.\n')
      }
      if (left.length > 0) throw new CommanderError(1, 'parley.stop', '')
    }),
  )
