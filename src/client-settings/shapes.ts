/** The shapes of edits: what can be put into a settings file, and what a way of writing settings down can do. */

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

/** Lines between two marks. */
export interface Block {
  /** Stands in the marks: a file may have several. */
  readonly name: string
  readonly lines: readonly string[]
}

/** One of a list that others share. */
export interface Item {
  readonly kind: 'item'
  readonly path: readonly string[]
  readonly value: Json
  /** An item with one of these texts in it is this one, as somebody has changed it. */
  readonly marks?: readonly string[]
}

/** A property that is ours alone, an item of a list that others share (a permission, a hook), or a marked block of lines. */
export type Edit =
  | { readonly kind: 'entry'; readonly path: readonly string[]; readonly value: Json }
  | Item
  | ({ readonly kind: 'block' } & Block)

export type Format = 'json' | 'toml' | 'markdown' | 'lines' | 'script'

/** An edit in a file, with the number of objects and lists that were made to hold it: they go with it. */
export interface Placed {
  readonly edit: Edit
  readonly holders: number
}

/** The text of a file cannot be edited, or must not be: it is left as it is, and the message says why. */
export class LeaveAlone extends Error {}

/** The place of an item among its list: as it was written, else as somebody has changed it; -1 where it is not. */
export function indexOfItem(list: readonly Json[], { value, marks = [] }: Item): number {
  const texts = list.map((one) => JSON.stringify(one))
  const same = texts.indexOf(JSON.stringify(value))
  return same >= 0 ? same : texts.findIndex((text) => marks.some((mark) => text.includes(mark)))
}

/** One way to write settings down. Each throws LeaveAlone where the text cannot be read. */
export interface SettingsText {
  /** The value at the place of an edit; undefined where there is none. */
  find(text: string, edit: Edit): Json | undefined
  /** Replaces what stands there. */
  put(text: string, edit: Edit): { readonly text: string; readonly holders: number }
  take(text: string, placed: Placed): string
}
