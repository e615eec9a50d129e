/** Connections by their number: no more than files can be open, and none that a stop would wait for in vain. */
import { Server, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { nextTurn, pause } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'

/** Files that the process needs besides connections: database, log, watches, what it loads. */
const ownFiles = 64
/** A hub of a hundred agents has some hundreds of connections: fewer than this may be too few. */
const enough = 1000

/** Past the limit of open files a database cannot open its own: connections are refused before that (serve.start.files). */
export function boundConnections(app: FastifyInstance, files: number | undefined, log: Log): void {
  if (files === undefined) return
  const connections = Math.max(1, files - ownFiles)
  app.server.maxConnections = connections
  if (connections < enough)
    log.warn({ files, connections }, 'few files may be open at once, and few clients connected; raise it (ulimit -n)')
  app.server.once('drop', () => log.warn({ connections }, 'a connection was refused: no more files may be open'))
}

/** Pools and browsers connect ahead of use. node:http takes such a connection for busy, and would wait for it for ever when it closes. */
export function dropUnusedConnections(app: FastifyInstance): void {
  const open = new Set<Socket>()
  let closing = false
  app.server.on('connection', (socket: Socket) => {
    if (closing) return socket.destroy()
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  app.addHook('preClose', (done) => {
    closing = true
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
    done()
  })
}

/** For a proxy to send the request for which it has just connected. */
const lastRequestsMs = 100

/** A turn of the event loop this short leaves a proxy no time to connect between the last look at the queue and the close. */
const shortMs = 0.05

/** Where connections come all the time, or the machine is busy. */
const mostMs = 300

/**
 * Takes no more connections, and serves those that it took. A close at once ends every connection that has no request yet: one on which
 * a proxy has just sent it is reset, and the proxy may not send it again (serve.stop.drain).
 */
export async function stopListening({ server }: Pick<FastifyInstance, 'server'>): Promise<void> {
  // A connection left in the queue would be reset too: the close waits for a turn that accepts none, and in which none can have come.
  let accepted = false
  const noteAccepted = () => {
    accepted = true
  }
  server.on('connection', noteAccepted)
  // The turn under way may have looked at the queue already.
  await nextTurn()
  const until = performance.now() + mostMs
  for (let [began, calm] = [performance.now(), false]; !calm && began < until; ) {
    accepted = false
    await nextTurn()
    const ended = performance.now()
    calm = !accepted && ended - began < shortMs
    began = ended
  }
  server.off('connection', noteAccepted)
  Server.prototype.close.call(server)
  await pause(lastRequestsMs)
}
