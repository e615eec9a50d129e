/** The servers that run on a store: each keeps a note in the storage folder as long as it runs. */
import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isRunning, onProcessExit, thisProcess } from '../base/processes.ts'
import type { Config } from '../settings/all.ts'

export interface RunningServer {
  readonly pid: number
  readonly url: string
  readonly version: string
  /** ISO 8601. */
  readonly started: string
}

type ServerPlace = Pick<Config, 'HTTP_HOST' | 'HTTP_PORT'> &
  Partial<Pick<Config, 'HTTP_SOCKET' | 'HTTP_TLS_CERT' | 'HTTP_BASE_PATH'>>

/** Where the settings put the server; undefined where the system chooses the port. */
export function serverUrl(place: ServerPlace): string | undefined {
  const { HTTP_HOST, HTTP_PORT, HTTP_SOCKET, HTTP_TLS_CERT, HTTP_BASE_PATH = '' } = place
  if (HTTP_SOCKET !== undefined) return `${socketUrl(HTTP_SOCKET)}${HTTP_BASE_PATH}`
  if (HTTP_PORT === 0) return undefined
  const everywhere = HTTP_HOST === '0.0.0.0' || HTTP_HOST === '::'
  const host = everywhere ? '127.0.0.1' : HTTP_HOST.includes(':') ? `[${HTTP_HOST}]` : HTTP_HOST
  return `${HTTP_TLS_CERT === undefined ? 'http' : 'https'}://${host}:${HTTP_PORT}${HTTP_BASE_PATH}`
}

/** A Unix socket: its path stands as a host, so that a path of HTTP can follow. */
export const socketUrl = (path: string): string => `unix://${encodeURIComponent(path)}`

export const notesFolder = (storageRoot: string): string => join(storageRoot, 'running')

/** Notes this process; the returned function, or the end of the process, takes the note away. */
export function noteRunning(storageRoot: string, server: Omit<RunningServer, 'pid'>): () => void {
  const file = join(notesFolder(storageRoot), `${process.pid}.json`)
  mkdirSync(notesFolder(storageRoot), { recursive: true, mode: 0o700 })
  writeFileSync(file, JSON.stringify({ ...server, pid: process.pid, process: thisProcess() }), { mode: 0o600 })
  const remove = () => {
    rmSync(file, { force: true })
    try {
      rmdirSync(notesFolder(storageRoot))
    } catch {
      // Another server has a note there.
    }
  }
  const forget = onProcessExit(remove)
  return () => {
    forget()
    remove()
  }
}

/** The servers of this machine that run now, the oldest first. Notes of those that were killed are cleared away. */
export function listRunning(storageRoot: string): RunningServer[] {
  return readNotes(notesFolder(storageRoot))
    .filter(({ file, note }) => {
      const lives = isRunning(note.process)
      if (lives === false) rmSync(file, { force: true })
      return lives === true
    })
    .map(({ note: { pid, url, version, started } }) => ({ pid, url, version, started }))
    .sort((one, other) => one.started.localeCompare(other.started))
}

interface Note extends RunningServer {
  readonly process: string
}

function readNotes(folder: string): { file: string; note: Note }[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .flatMap((name) => {
        const file = join(folder, name)
        try {
          return [{ file, note: JSON.parse(readFileSync(file, 'utf8')) as Note }]
        } catch {
          // It was taken away meanwhile, or is not whole yet.
          return []
        }
      })
  } catch {
    return []
  }
}
