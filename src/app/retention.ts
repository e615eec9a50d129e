/** Where old mail goes that is moved out: files in STORAGE_ROOT/retention that `parley import --missing` reads back. */
import { type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Moving, WriteRecord } from '../core/transfers/retention-apply.ts'
import { toLine } from '../doors/cli/export/export-lines.ts'
import type { Config } from '../settings/all.ts'

export const rulesOf = (config: Config) => ({
  maxAgeDays: config.RETENTION_MAX_AGE_DAYS,
  ignored: config.RETENTION_IGNORE_PROJECT_PATTERNS,
  inboxLimit: config.QUOTA_INBOX_LIMIT_COUNT,
})

export const retentionFolder = ({ STORAGE_ROOT }: Pick<Config, 'STORAGE_ROOT'>): string =>
  join(STORAGE_ROOT, 'retention')

/** Lines are gathered up to so many characters: a write for each message would take longer than the messages. */
const gathered = 256 * 1024

/** The export has its name once it is whole and on the disk: the mail is removed only after that. */
export function keepIn(folder: string, now: () => number): Moving['keep'] {
  return async ({ slug }, write) => {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const stamp = new Date(now()).toISOString().slice(0, 19).replace(/:/g, '-')
    const taken = new Set(await readdir(folder))
    let n = 1
    const name = () => `${slug}-${stamp}Z-${String(n).padStart(4, '0')}.jsonl`
    while (taken.has(name())) n++
    const path = join(folder, name())
    // Exports that were cut off are of no use: their mail is still there, and one process at a time moves mail out.
    for (const file of taken) if (file.endsWith('.part')) await rm(join(folder, file), { force: true })
    const handle = await open(`${path}.part`, 'w', 0o600)
    try {
      await writeLines(handle, write)
      await handle.sync()
    } catch (error) {
      await handle.close()
      await rm(`${path}.part`, { force: true })
      throw error
    }
    await handle.close()
    await rename(`${path}.part`, path)
    await syncFolder(folder)
    return path
  }
}

async function writeLines(handle: FileHandle, write: (record: WriteRecord) => Promise<unknown>): Promise<void> {
  let text = ''
  const flush = async () => {
    await handle.appendFile(text)
    text = ''
  }
  await write(async (record) => {
    text += toLine(record)
    if (text.length >= gathered) await flush()
  })
  await flush()
}

/** Without it the name may be lost with the power; Windows keeps names by itself. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
