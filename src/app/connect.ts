/** `parley connect`: the front of a door of any Parley on stdin and stdout, with the key from the credentials file. */
import { systemClock } from '../base/clock.ts'
import { HubError } from '../base/errors.ts'
import { createIds } from '../base/ids.ts'
import { Front } from '../doors/connect/stdio-proxy.ts'
import { type Calling, type ConnectDoor, connectDoors, targetOf } from '../doors/connect/target.ts'
import { createWire } from '../doors/connect/wire.ts'
import { readLines } from '../doors/mcp/stdio/lines.ts'
import { gitRoot } from '../folders/git-root.ts'
import { heldCredential } from './credentials.ts'
import { serverAt, serverSettings } from './server-place.ts'

export interface ConnectOptions {
  readonly server?: string
  readonly door?: string
  readonly agent?: string
  readonly project?: string
}

type Environment = Readonly<Record<string, string | undefined>>

/** For requests on their way when the client goes away. */
const graceMs = 3000

export async function connect(
  options: ConnectOptions,
  { env, checkout }: { env: Environment; checkout?: string | undefined },
): Promise<void> {
  const server = serverAt(serverSettings(env, checkout), options.server)
  const calling = doorCalling({ ...options, server }, env, process.cwd())
  const { url, headers } = targetOf(calling)
  const { stdin, stdout } = process
  const clock = systemClock
  const front = new Front({
    wire: createWire(url, headers),
    server: calling.server,
    clock,
    ids: createIds(clock),
    write: (text) => void stdout.write(`${text}\n`),
  })
  // Nobody reads any more: nothing that could still be asked would be heard.
  stdout.on('error', () => stdin.destroy())
  process.once('SIGINT', () => stdin.destroy()).once('SIGTERM', () => stdin.destroy())
  await readLines(stdin, (line) => front.receive(line))
  await front.close(stdin.readableEnded ? graceMs : 0)
  process.exit(0)
}

/** The key says who calls and in which project; else the options, then AGENT_NAME and the working folder. */
export function doorCalling(
  { server, ...options }: ConnectOptions & { readonly server: string },
  env: Environment,
  folder: string,
): Calling {
  const agent = options.agent || env.AGENT_NAME || undefined
  const credential = heldCredential(env, server, agent)
  const door = doorOf(options.door, credential?.door)
  const project = options.project ?? credential?.project ?? (door === 'mail' ? (gitRoot(folder) ?? folder) : undefined)
  return {
    server,
    door,
    mailPath: credential?.mailPath ?? '/mcp',
    agent: credential?.agent ?? agent,
    project,
    key: credential?.key,
    run: env.PARLEY_RUN || undefined,
  }
}

/** `invited`: the door of an invitation. The post door has no MCP of its own; its agents read the same mail at the mailbox door. */
export function doorOf(given: string | undefined, invited = 'mail'): ConnectDoor {
  const door = connectDoors.find((one) => one === (given ?? (invited === 'post' ? 'mailbox' : invited)))
  if (door !== undefined) return door
  if (given === 'post')
    throw new HubError('INVALID_ARGUMENT', 'The post door speaks REST and no MCP: nothing can be forwarded to it.', {
      hint: 'Use --door mailbox, where its agents read the same mail, or `parley mailbox`, the client of the post door.',
    })
  throw new HubError('INVALID_ARGUMENT', `--door must be one of ${connectDoors.join(', ')}.`)
}
