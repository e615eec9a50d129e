/** The rule by which edits are put into the text of a settings file, brought up to date, and taken out again. */
import { isDeepStrictEqual } from 'node:util'
import { type Edit, type Format, type Json, LeaveAlone, type Placed, type SettingsText } from './shapes.ts'
import { markedLines, markedScript, markedText } from './text/blocks.ts'
import { jsonText } from './text/json.ts'
import { tomlText } from './text/toml.ts'

const formats: Readonly<Record<Format, SettingsText>> = {
  json: jsonText,
  toml: tomlText,
  markdown: markedText,
  lines: markedLines,
  script: markedScript,
}

export interface Edited {
  readonly text: string
  /** Our own entries that are in the text now. */
  readonly placed: readonly Placed[]
  /** Sentences about what was not done. */
  readonly left: readonly string[]
}

/**
 * Puts edits in. An entry is ours as long as all that was written into it is still there: then it is brought up to date, and
 * a person's additions to it stay. Any other entry at the same place is a person's, and is left alone.
 */
export function putEdits(
  format: Format,
  start: string,
  { edits, known }: { readonly edits: readonly Edit[]; readonly known: readonly Placed[] },
): Edited {
  const placed: Placed[] = []
  const left = new Set<string>()
  let text = start
  let refused = false
  for (const edit of edits) {
    const own = known.find((one) => placeOf(one.edit) === placeOf(edit))
    // Hooks and permissions are for the server of the same file: without it they would be for nothing.
    if (refused && edit.kind === 'item' && own === undefined) continue
    try {
      const done = putEdit(format, text, { edit, own })
      text = done.text
      if (done.placed !== undefined) placed.push(done.placed)
      if (done.left !== undefined) left.add(done.left)
      refused ||= edit.kind === 'entry' && done.left !== undefined
    } catch (error) {
      if (!(error instanceof LeaveAlone)) throw error
      left.add(error.message)
      refused ||= edit.kind === 'entry'
      if (own !== undefined) placed.push(own)
    }
  }
  return { text, placed: withHolders(placed, known), left: [...left] }
}

/** Objects and lists that were made for one edit hold others too: they go with the last of them. */
function withHolders(placed: readonly Placed[], known: readonly Placed[]): Placed[] {
  const made = new Set([...known, ...placed].flatMap(({ edit, holders }) => holdersOf(edit).slice(0, holders)))
  return placed.map(({ edit }) => {
    const all = holdersOf(edit)
    const others = all.findIndex((holder) => !made.has(holder))
    return { edit, holders: others < 0 ? all.length : others }
  })
}

/** The objects and lists around an edit, the innermost first. */
function holdersOf(edit: Edit): string[] {
  if (edit.kind === 'block') return []
  const inner = edit.kind === 'item' ? edit.path.length : edit.path.length - 1
  return Array.from({ length: inner }, (_, outer) => JSON.stringify(edit.path.slice(0, inner - outer)))
}

interface Put {
  readonly text: string
  readonly placed?: Placed
  readonly left?: string
}

function putEdit(format: Format, text: string, { edit, own }: { edit: Edit; own: Placed | undefined }): Put {
  const { find, put } = formats[format]
  const there = find(text, edit)
  if (there === undefined) {
    const { holders, text: after } = put(text, edit)
    return { text: after, placed: { edit, holders } }
  }
  if (own !== undefined && holds(there, contentOf(own.edit))) {
    const value = withAdditions(there, contentOf(own.edit), contentOf(edit))
    const after = isDeepStrictEqual(there, value) ? text : put(text, withValue(edit, value)).text
    return { text: after, placed: { edit, holders: own.holders } }
  }
  // A block came perhaps by git, from an init of somebody else: it serves as well.
  if (own !== undefined) return { text, placed: own, ...(edit.kind !== 'block' && { left: changed(edit) }) }
  const same = edit.kind === 'block' || isDeepStrictEqual(there, contentOf(edit))
  return { text, ...(!same && { left: foreign(edit) }) }
}

/** Takes out what is still as it was put in. */
export function takeEdits(format: Format, start: string, placed: readonly Placed[]): Omit<Edited, 'placed'> {
  const { find, take } = formats[format]
  const left: string[] = []
  let text = start
  for (const one of placed.toReversed()) {
    const there = find(text, one.edit)
    if (there === undefined) continue
    if (holds(there, contentOf(one.edit))) text = take(text, one)
    else left.push(changed(one.edit))
  }
  return { text, left }
}

/** Where an edit goes, as one word: two edits of one place are the same edit in two versions. */
export const placeOf = (edit: Edit): string =>
  edit.kind === 'block'
    ? JSON.stringify([edit.kind, edit.name])
    : JSON.stringify([edit.kind, edit.path, ...(edit.kind === 'item' ? [edit.value] : [])])

/** Whether a file has what was put into it, perhaps with more. */
export const isInPlace = (format: Format, text: string, { edit }: Placed): boolean =>
  holds(formats[format].find(text.replace(/^\ufeff/, ''), edit), contentOf(edit))

const contentOf = (edit: Edit): Json => (edit.kind === 'block' ? edit.lines : edit.value)

const withValue = (edit: Edit, value: Json): Edit => (edit.kind === 'block' ? edit : { ...edit, value })

const isObject = (value: Json | undefined): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function holds(there: Json | undefined, value: Json): boolean {
  if (!isObject(there) || !isObject(value)) return isDeepStrictEqual(there, value)
  return Object.entries(value).every(([key, own]) => holds(there[key], own))
}

/** The new value, with what a person has added beside the old one. */
function withAdditions(there: Json | undefined, old: Json, value: Json): Json {
  if (!isObject(there) || !isObject(old) || !isObject(value)) return value
  const added = Object.entries(there).filter(([key]) => !(key in old) && !(key in value))
  const own = Object.entries(value).map(([key, one]) => [key, withAdditions(there[key], old[key] ?? null, one)])
  return Object.fromEntries([...own, ...added]) as Json
}

const nameOf = (edit: Edit): string => (edit.kind === 'block' ? `the block "${edit.name}"` : edit.path.join('.'))

const foreign = (edit: Edit): string =>
  `has an entry ${nameOf(edit)} that init did not write: left as it is. Rename or remove it, and run init again`

const changed = (edit: Edit): string =>
  `${nameOf(edit)} was changed since init wrote it: left as it is. Remove it by hand if you do not need it`
