/** Where the tests keep their files: in memory where the system has room for it, since SQLite waits for the disk at every commit. */
import { accessSync, constants, statfsSync } from 'node:fs'

const folder = '/dev/shm'

/** A container often has 64 MB there; a run with PostgreSQL takes up to 500 MB. */
const needed = 2 ** 31

/** Undefined where there is no such place. What a killed process wrote stays there too; only a power cut would not. */
export function memoryFolder(): string | undefined {
  try {
    accessSync(folder, constants.W_OK)
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize >= needed ? folder : undefined
  } catch {
    return undefined
  }
}
