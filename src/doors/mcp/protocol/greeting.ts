/** The instructions of a server: who the caller is and what waits for it, then how to use the door. */
import { HubError } from '../../../base/errors.ts'
import { cut } from '../../../base/text.ts'
import type { Exchange } from './exchange.ts'
import type { Service } from './service.ts'

/** Claude Code cuts at 4,096 characters. */
const mostInstructions = 4000

export async function instructionsFor<Scope>(service: Service<Scope>, exchange: Exchange<Scope>): Promise<string> {
  const { door, offered, engine } = service
  const { instructions, toldInstructions } = offered(exchange.scope)
  const { agent, project } = door.connection?.tells(exchange) ?? { agent: false, project: false }
  const greeting = await door.greet?.(exchange).catch((error: unknown) => {
    // A name that fights with its key is told at once. Whatever else is wrong is told by the call that meets it.
    if (error instanceof HubError && error.reason === 'contradicted') throw error
    engine.log.debug({ err: error, door: door.name }, 'a client was not greeted')
    return undefined
  })
  const text = agent && project ? toldInstructions : instructions
  return cut(greeting === undefined ? text : `${greeting} ${text}`, mostInstructions)
}
