/** Where the front of a door calls: the URL of the door and the headers that say who calls. */
import { HubError } from '../../base/errors.ts'

export const connectDoors = ['mail', 'mailbox', 'hub', 'bus'] as const
export type ConnectDoor = (typeof connectDoors)[number]

export interface Calling {
  /** Without a slash at its end. */
  readonly server: string
  readonly door: ConnectDoor
  readonly mailPath: string
  readonly agent: string | undefined
  readonly project: string | undefined
  /** Says who the agent is; a header or a query never overrules it. */
  readonly key: string | undefined
  /** The run that the client was started for (PARLEY_RUN). */
  readonly run?: string | undefined
}

interface Target {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
}

export function targetOf(calling: Calling): Target {
  const { url, headers } = namedTarget(calling)
  return { url, headers: calling.run ? { ...headers, 'x-parley-run': calling.run } : headers }
}

function namedTarget({ server, door, mailPath, agent, project, key }: Calling): Target {
  if (door === 'mailbox' && agent === undefined)
    throw new HubError('INVALID_ARGUMENT', 'The mailbox door needs the name of the agent.', {
      hint: 'Pass --agent NAME, or set AGENT_NAME.',
    })
  const paths = {
    mail: mailPath,
    mailbox: `/agents/${encodeURIComponent(agent ?? '')}/mcp`,
    hub: '/hub/mcp',
    bus: '/bus/mcp',
  }
  const url = new URL(`${server}${paths[door]}`)
  if (project !== undefined) url.searchParams.set('project', project)
  if (key !== undefined) return { url, headers: { authorization: `Bearer ${key}` } }
  if (agent === undefined) return { url, headers: {} }
  // The hub and the bus read the name on the URL, where it may have any letters.
  const plain = /^[\x21-\x7e]+$/.test(agent)
  if (door === 'hub' || door === 'bus' || !plain) url.searchParams.set('agent', agent)
  return { url, headers: plain ? { 'x-parley-agent': agent } : {} }
}
