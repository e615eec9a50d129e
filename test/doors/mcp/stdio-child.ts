/** The fixture served on stdin and stdout, as a client would start it. */
import { createEngine } from '../../../src/doors/mcp/protocol/engine.ts'
import { serveStdio } from '../../../src/doors/mcp/stdio/serve.ts'
import { fixtureDoor, World } from './door.ts'
import { engineOptions, hastyClock } from './engine.ts'

const world = new World()
world.mail.push('the only mail')
const { sessions: _, ...options } = engineOptions({ clock: hastyClock })
await serveStdio(fixtureDoor(world), { agent: 'alice' }, { engine: createEngine(options) })
// The parent reads the state from stderr: stdout is the protocol's alone.
process.stderr.write(JSON.stringify({ mail: world.mail, ends: world.ends, watched: world.watched }))
