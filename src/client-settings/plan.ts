/** The plan of an init or of its undoing: for each file what it is, what it becomes, and what is left alone, before anything is written. */
import { readFileSync } from 'node:fs'
import { placeOf, putEdits, takeEdits } from './edits.ts'
import { readSettingsFile, type SettingsFile } from './files.ts'
import {
  clientOfOwner,
  hashOf,
  type InitRecord,
  type Owner,
  type RecordedEdit,
  type RecordedFile,
  scopeOfOwner,
} from './record.ts'
import { type Edit, type Format, LeaveAlone } from './shapes.ts'

/** The edits of one client in one file. */
export interface WantedFile {
  readonly client: string
  /** As people know it; it may be a symlink. */
  readonly file: string
  readonly format: Format
  readonly edits: readonly Edit[]
}

export interface PlannedFile {
  readonly file: string
  /** Behind all symlinks. */
  readonly path: string
  readonly clients: readonly string[]
  readonly before: string | undefined
  /** Undefined where the file is removed. */
  readonly after: string | undefined
  readonly mode: number | undefined
  /** Sentences about what was left alone, and why. */
  readonly left: readonly string[]
  /** The record afterwards; undefined where nothing of ours is left in the file. */
  readonly record: Omit<RecordedFile, 'folders' | 'backup'> | undefined
  /** The file without our edits, for the backup; undefined where init makes the file. */
  readonly base: string | undefined
}

export interface Planning {
  readonly record: InitRecord
  /** Folders that a file may lie in, behind all symlinks. */
  readonly within: readonly string[]
}

/** Also takes out what these clients had from an earlier init in files that they need no longer. */
export function planPutting(wanted: readonly WantedFile[], scope: string, planning: Planning): PlannedFile[] {
  const planned = planWanted(wanted, scope, planning)
  const names = [...new Set(wanted.map(({ client }) => client))]
  const before = planTaking({ clients: names, scope }, planning)
  return [...planned, ...before.filter(({ path }) => !planned.some((one) => one.path === path))]
}

function planWanted(wanted: readonly WantedFile[], scope: string, planning: Planning): PlannedFile[] {
  return byPath(wanted, planning.within).map(({ found, all, fault }) => {
    const [{ file, format }] = all as [WantedFile, ...WantedFile[]]
    const clients = [...new Set(all.map(({ client }) => client))]
    if (found === undefined) return leftAlone(file, clients, fault)
    const recorded = planning.record[found.path]
    try {
      return planFile({ file, format, found, recorded, scope, all, clients })
    } catch (error) {
      if (error instanceof LeaveAlone) return leftAlone(file, clients, error.message, found)
      throw error
    }
  })
}

interface Planned {
  readonly file: string
  readonly format: Format
  readonly found: SettingsFile
  readonly recorded: RecordedFile | undefined
  readonly scope: string
  readonly all: readonly WantedFile[]
  readonly clients: readonly string[]
}

/** Puts in the edits of these clients, takes out their old ones, and leaves those of others. */
function planFile({ file, format, found, recorded, scope, all, clients }: Planned): PlannedFile {
  const { bom, body } = split(found.text ?? '')
  const edits = new Map(all.flatMap((one) => one.edits.map((edit) => [placeOf(edit), edit])))
  const known = recorded?.edits ?? []
  const ours = clients.map((client): Owner => `${client} ${scope}`)
  const owners = (edit: Edit): Owner[] => {
    const same = (other: Edit) => placeOf(other) === placeOf(edit)
    const before = known.find((one) => same(one.edit))?.owners ?? []
    const now = all.filter((one) => one.edits.some(same)).map(({ client }): Owner => `${client} ${scope}`)
    return [...new Set([...before.filter((owner) => !ours.includes(owner)), ...now])]
  }
  const [kept, gone] = parted(known, ({ edit }) => owners(edit).length > 0)
  const taken = takeEdits(format, body, gone)
  const put = putEdits(format, taken.text, { edits: [...edits.values()], known })
  const placed: RecordedEdit[] = [
    ...kept.filter(({ edit }) => !edits.has(placeOf(edit))),
    ...put.placed.map(({ edit, holders }) => ({ edit, holders, owners: owners(edit) })),
  ]
  const after = found.text === undefined && placed.length === 0 ? undefined : bom + put.text
  const made = found.text === undefined || (recorded?.made ?? false)
  // Where nothing is written, the backup stays the one that belongs to the last writing.
  const written = after === found.text ? recorded?.written : undefined
  return {
    file,
    clients,
    ...{ path: found.path, before: found.text, after, mode: found.mode },
    left: [...taken.left, ...put.left],
    record: placed.length === 0 ? undefined : { format, made, written: written ?? hashOf(after ?? ''), edits: placed },
    base: made ? undefined : withoutUs(found.text ?? '', recorded),
  }
}

/** The edits of these clients, or of all, in the files of a scope. */
export function planTaking(
  { clients, scope }: { readonly clients: readonly string[] | undefined; readonly scope: string },
  { record, within }: Planning,
): PlannedFile[] {
  const goes = (owner: Owner): boolean =>
    scopeOfOwner(owner) === scope && (clients === undefined || clients.includes(clientOfOwner(owner)))
  // The last first: a folder that was made for the first file is empty only after the others.
  return Object.entries(record)
    .toReversed()
    .flatMap(([path, recorded]) => {
      const going = new Set(recorded.edits.flatMap(({ owners }) => owners.filter(goes)))
      const named = [...going].map(clientOfOwner)
      if (named.length === 0) return []
      try {
        return [planWithout(path, { recorded, going, found: readSettingsFile(path, within) })]
      } catch (error) {
        if (error instanceof LeaveAlone) return [leftAlone(path, named, error.message)]
        throw error
      }
    })
}

function planWithout(
  path: string,
  { recorded, going, found }: { recorded: RecordedFile; going: ReadonlySet<Owner>; found: SettingsFile },
): PlannedFile {
  const edits = recorded.edits.map((one) => ({ ...one, owners: one.owners.filter((owner) => !going.has(owner)) }))
  const [kept, gone] = parted(edits, ({ owners }) => owners.length > 0)
  const { bom, body } = split(found.text ?? '')
  const taken = takeEdits(recorded.format, body, gone)
  const all = kept.length === 0
  const base = recorded.made ? undefined : withoutUs(found.text ?? '', recorded)
  const unchanged = found.text !== undefined && hashOf(found.text) === recorded.written
  const empty = recorded.made && /^(\s*|\{\s*\})$/.test(taken.text.trim())
  const rest = all && unchanged && base !== undefined ? base : bom + taken.text
  const after = found.text === undefined || (all && empty) ? undefined : rest
  return {
    ...{ file: path, path, clients: [...going].map(clientOfOwner), before: found.text, after, mode: found.mode, base },
    left: taken.left,
    record: all ? undefined : { ...recorded, edits: kept, written: hashOf(after ?? '') },
  }
}

/** The backup as long as nobody changed the file since; else the file with our edits taken out. */
function withoutUs(text: string, recorded: RecordedFile | undefined): string {
  if (recorded === undefined) return text
  if (hashOf(text) === recorded.written && recorded.backup !== undefined)
    try {
      return readFileSync(recorded.backup, 'utf8')
    } catch {
      // Somebody cleared it away.
    }
  const { bom, body } = split(text)
  return bom + takeEdits(recorded.format, body, recorded.edits).text
}

/** Files by their path behind all symlinks: CLAUDE.md is often a link to AGENTS.md. */
function byPath(wanted: readonly WantedFile[], within: readonly string[]) {
  const groups = new Map<string, { found: SettingsFile | undefined; all: WantedFile[]; fault: string }>()
  for (const one of wanted) {
    let [found, fault]: [SettingsFile | undefined, string] = [undefined, '']
    try {
      found = readSettingsFile(one.file, within)
    } catch (error) {
      if (!(error instanceof LeaveAlone)) throw error
      fault = error.message
    }
    const key = found?.path ?? one.file
    const group = groups.get(key) ?? { found, all: [], fault }
    group.all.push(one)
    groups.set(key, group)
  }
  return [...groups.values()]
}

const leftAlone = (file: string, clients: readonly string[], why: string, found?: SettingsFile): PlannedFile => ({
  ...{ file, path: found?.path ?? file, clients, before: found?.text, after: found?.text, mode: found?.mode },
  ...{ left: [why], record: undefined, base: undefined },
})

const split = (text: string): { bom: string; body: string } =>
  text.startsWith('\ufeff') ? { bom: '\ufeff', body: text.slice(1) } : { bom: '', body: text }

function parted<T>(list: readonly T[], test: (one: T) => boolean): [T[], T[]] {
  return [list.filter(test), list.filter((one) => !test(one))]
}
