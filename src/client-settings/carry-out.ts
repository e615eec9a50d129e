/** Carries a plan out, file by file: the record is written before a file is changed, and forgets it only afterwards. */
import { rmSync } from 'node:fs'
import { backupPath, readSettingsFile, removeMade, replaceFile } from './files.ts'
import type { PlannedFile } from './plan.ts'
import { hashOf, type InitRecord, type RecordedFile, readRecord, writeRecord } from './record.ts'
import { LeaveAlone } from './shapes.ts'

export interface CarriedOut {
  readonly file: string
  readonly clients: readonly string[]
  readonly did: 'made' | 'changed' | 'removed' | 'nothing'
  readonly backup?: string
  readonly left: readonly string[]
}

/** One file that cannot be written keeps no other from being written. */
export function carryOut(
  plan: readonly PlannedFile[],
  { recordFile, within }: { recordFile: string; within: readonly string[] },
): CarriedOut[] {
  return plan.map((planned) => {
    const { file, clients, left } = planned
    try {
      return { file, clients, left, ...carryOutFile(planned, recordFile, within) }
    } catch (error) {
      if (!(error instanceof LeaveAlone)) throw error
      return { file, clients, did: 'nothing', left: [...left, error.message] }
    }
  })
}

function carryOutFile(
  planned: PlannedFile,
  recordFile: string,
  within: readonly string[],
): Pick<CarriedOut, 'did' | 'backup'> {
  const { path, before, after, mode, record, base, left } = planned
  const files = readRecord(recordFile)
  const old = files[path]
  // Nothing of ours was there, or it could not be taken out.
  if (record === undefined && (old === undefined || (left.length > 0 && before === after))) return { did: 'nothing' }
  if (readSettingsFile(path, within).text !== before) throw new LeaveAlone('it was changed meanwhile: run init again')
  if (record === undefined) {
    if (after === undefined) removeMade(path, old?.folders ?? [])
    else if (after !== before) replaceFile(path, after, mode)
    if (old?.backup !== undefined) rmSync(old.backup, { force: true })
    const { [path]: _, ...others } = files
    writeRecord(recordFile, others)
    return { did: before === after ? 'nothing' : after === undefined ? 'removed' : 'changed' }
  }
  const backup = base === undefined ? old?.backup : backUp(planned, old, base)
  const folders = old?.folders ?? []
  const next = { ...record, folders, ...(backup !== undefined && { backup }) }
  remember(recordFile, files, path, next)
  if (after === undefined || after === before) return { did: 'nothing', ...(backup !== undefined && { backup }) }
  // Clients put secrets into such files, sooner or later.
  const own = record.format === 'json' || record.format === 'toml' ? 0o600 : undefined
  const made = replaceFile(path, after, mode ?? own)
  if (made.length > 0) remember(recordFile, files, path, { ...next, folders: made })
  return { did: before === undefined ? 'made' : 'changed', ...(backup !== undefined && { backup }) }
}

/** The backup is the file without our edits: where a person has changed it meanwhile, with that change. */
function backUp({ path, mode, after, before }: PlannedFile, old: RecordedFile | undefined, base: string): string {
  const name = old?.backup ?? backupPath(path)
  if (old?.backup === undefined || (before !== after && hashOf(before ?? '') !== old.written))
    replaceFile(name, base, mode)
  return name
}

function remember(recordFile: string, files: InitRecord, path: string, file: RecordedFile): void {
  if (JSON.stringify(files[path]) !== JSON.stringify(file)) writeRecord(recordFile, { ...files, [path]: file })
}
