/** A socket that sends what is written at one moment in one packet: a system call a statement was half of what a send cost. */
import { Socket } from 'node:net'
import { afterThis } from '../../base/clock.ts'

/** The statements that follow from one answer go out together. `pg` writes each by itself. */
export function gatheringSocket(): Socket {
  const socket = new Socket()
  const write = socket.write.bind(socket)
  let gathering = false
  const gather = (...args: Parameters<typeof write>): boolean => {
    if (!gathering) {
      gathering = true
      socket.cork()
      afterThis(() => {
        gathering = false
        socket.uncork()
      })
    }
    return write(...args)
  }
  // Connecting puts the socket's own function in its place.
  return socket.on('connect', () => Object.assign(socket, { write: gather }))
}
