/** The place of a SQLite file: whether its path still names the file that is open, and what room is left there. */
import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { limits } from '../../base/limits.ts'
import { Fault } from '../faults.ts'

interface Identity {
  readonly dev: number
  readonly ino: number
}

interface Known {
  readonly path: string
  /** Undefined until it was there: SQLite makes the WAL with the first write. */
  was: Identity | undefined
}

const identityOf = (path: string): Identity | undefined => statSync(path, { throwIfNoEntry: false })

export type FreeBytes = (folder: string) => Promise<number>

/** As quick as the looks for the files. In the thread pool it would wake up an idle process twice more each second. */
const freeBytes: FreeBytes = async (folder) => {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

/** SQLite writes on into a file that was deleted or replaced, and reports success. */
export class SqlitePlace {
  readonly #folder: string
  readonly #free: FreeBytes
  /** The database file, its WAL and its shared memory: without the same one, two processes do not see each other's locks. */
  readonly #files: readonly Known[]

  /** While a connection is open. It keeps the other two, too, from being removed by SQLite. */
  constructor(file: string, free: FreeBytes = freeBytes) {
    this.#folder = dirname(file)
    this.#free = free
    this.#files = ['', '-wal', '-shm'].map((end) => ({ path: file + end, was: identityOf(file + end) }))
  }

  /** Throws if one of the files is not there any more. Three stats, once for all units of a commit. */
  checkFile(): void {
    for (const file of this.#files) compare(file)
  }

  /** Bytes of the file and of its log, and those that are free beside them. */
  sizes(): { fileBytes: number; walBytes: number; freeBytes: number } {
    const [file = 0, wal = 0] = this.#files.map(({ path }) => statSync(path, { throwIfNoEntry: false })?.size ?? 0)
    const { bavail, bsize } = statfsSync(this.#folder)
    return { fileBytes: file, walBytes: wal, freeBytes: bavail * bsize }
  }

  /** The same, and the room left: less than one request may need is none. */
  async check(): Promise<void> {
    this.checkFile()
    if ((await this.#free(this.#folder)) < limits.requestBytes)
      throw new Fault('full', new Error(`There is no room left in ${this.#folder}.`))
  }
}

function compare(file: Known): void {
  const now = identityOf(file.path)
  if (file.was === undefined) file.was = now
  else if (now?.ino !== file.was.ino || now.dev !== file.was.dev)
    throw new Fault('gone', new Error(`${file.path} was ${now === undefined ? 'deleted or moved' : 'replaced'}.`))
}
