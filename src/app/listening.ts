/** Where a server listens: an address, a Unix socket, or the socket that systemd has opened for it; with TLS or without. */
import { chmodSync, readFileSync, rmSync, statSync } from 'node:fs'
import { type AddressInfo, connect } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { HubError } from '../base/errors.ts'
import { type ListeningPlace, listen } from '../doors/http/app.ts'
import type { Config } from '../settings/all.ts'
import { ConfigError } from '../settings/read.ts'
import { socketUrl } from './running.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The first descriptor of those that systemd passes (sd_listen_fds). */
const firstFd = 3

/**
 * The socket of systemd, if there is one. The variables are meant for the process that systemd started: this one, or the launcher that
 * has started this one.
 */
export function activatedSocket(env: Environment, { pid, ppid }: { pid: number; ppid: number }): number | undefined {
  const { LISTEN_FDS, LISTEN_PID } = env
  if (LISTEN_FDS === undefined || ![String(pid), String(ppid)].includes(LISTEN_PID ?? '')) return undefined
  if (LISTEN_FDS === '1') return firstFd
  throw new HubError('INVALID_ARGUMENT', `systemd passes ${LISTEN_FDS} sockets, and Parley listens on one.`, {
    hint: 'Leave one ListenStream= in the socket unit.',
  })
}

/** Listens on the socket of systemd, else where the settings say. */
export async function listenAt(app: FastifyInstance, config: Config, fd: number | undefined): Promise<void> {
  const socket = fd === undefined ? config.HTTP_SOCKET : undefined
  if (socket !== undefined) await clearSocket(socket)
  await listen(app, placeOf(config, fd)).catch(explainListen(config))
  if (socket !== undefined) openToGroup(socket)
}

function placeOf({ HTTP_HOST: host, HTTP_PORT: port, HTTP_SOCKET: path }: Config, fd?: number): ListeningPlace {
  if (fd !== undefined) return { fd, host }
  return path === undefined ? { host, port } : { path }
}

/** The group may connect, too. Before this nobody but the owner can: to connect is to write. */
function openToGroup(path: string): void {
  chmodSync(path, 0o660)
}

/** A server that was killed leaves its socket behind: it is removed if nobody answers there. */
async function clearSocket(path: string): Promise<void> {
  if (!statSync(path, { throwIfNoEntry: false })?.isSocket()) return
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect(path, () => resolve(true)).on('error', () => resolve(false))
  const answers = await promise
  socket.destroy()
  if (!answers) rmSync(path, { force: true })
}

interface Certificate {
  readonly cert: Buffer
  readonly key: Buffer
}

export function readCertificate({ HTTP_TLS_CERT, HTTP_TLS_KEY }: Config): Certificate | undefined {
  if (HTTP_TLS_CERT === undefined || HTTP_TLS_KEY === undefined) return undefined
  try {
    return { cert: readFileSync(HTTP_TLS_CERT), key: readFileSync(HTTP_TLS_KEY) }
  } catch (error) {
    throw new ConfigError(`HTTP_TLS_CERT and HTTP_TLS_KEY must be files that can be read: ${(error as Error).message}`)
  }
}

export function urlOf(address: AddressInfo | string | null, scheme: 'http' | 'https' = 'http'): string {
  if (typeof address === 'string') return socketUrl(address)
  const { address: host = '127.0.0.1', family = 'IPv4', port = 0 } = address ?? {}
  const everywhere = host === '0.0.0.0' || host === '::'
  return `${scheme}://${everywhere ? '127.0.0.1' : family === 'IPv6' ? `[${host}]` : host}:${port}`
}

/** An address that is not available is the commonest fault of a start: the error names it and the next step. */
const explainListen =
  ({ HTTP_HOST, HTTP_PORT, HTTP_SOCKET }: Config) =>
  (error: NodeJS.ErrnoException): never => {
    const reasons: Record<string, string> = {
      EADDRINUSE: 'another program listens there',
      EACCES: 'this user may not listen there',
      EADDRNOTAVAIL: 'this machine has no such address',
      ENOENT: 'there is no such folder',
      ENOTFOUND: 'there is no such host',
      EAI_AGAIN: 'the host name cannot be looked up',
    }
    const reason = reasons[error.code ?? '']
    if (reason === undefined) throw error
    const hint =
      HTTP_SOCKET === undefined
        ? 'Choose another address with --host and --port (HTTP_HOST, HTTP_PORT), or stop the other program.'
        : 'Choose another path with HTTP_SOCKET, or stop the other program.'
    throw new HubError(
      'INVALID_ARGUMENT',
      `Parley cannot listen on ${HTTP_SOCKET ?? `${HTTP_HOST}:${HTTP_PORT}`}: ${reason}.`,
      { hint, cause: error },
    )
  }
