/** Filters in a query: `is:unread`, `after:2026-11-01` and their like choose among messages, and are taken out before words are looked for. */
import { fields } from './query.ts'

/** One filter. Dates are milliseconds. */
export type QueryFilter = { readonly not: boolean; readonly text: string } & Asked

type Asked =
  | { readonly field: 'is'; readonly value: (typeof states)[number] }
  | { readonly field: 'has'; readonly value: 'attachment' }
  | { readonly field: 'importance'; readonly value: (typeof degrees)[number] }
  | { readonly field: 'before' | 'after'; readonly value: number }
  | { readonly field: 'to' | 'type' | 'project'; readonly value: string }

const states = ['unread', 'unacked', 'sealed'] as const
const degrees = ['low', 'normal', 'high', 'urgent'] as const

interface Filtered {
  /** The query without its filters. */
  readonly words: string
  readonly filters: readonly QueryFilter[]
  /** Terms that look like a filter and are none; they are left among the words (mail.search.unknown). */
  readonly notes: readonly string[]
}

/** A phrase in quotes is nobody's filter; a minus or NOT before a filter turns it around. */
const term = /"[^"]*"|(?<![^\s(])(-|NOT\s+)?([a-z]{2,20}):(?:"([^"]*)"|(?![/:])([^\s()"]+))/gi

/** `project:` is for people: agents look in the project that they name. */
export function filtersOf(query: string, { projects = false } = {}): Filtered {
  const filters: QueryFilter[] = []
  const notes: string[] = []
  const rest = query.replace(term, (text: string, not?: string, name?: string, quoted?: string, bare?: string) => {
    const field = name?.toLowerCase() ?? ''
    if (name === undefined || fields.some((one) => one === field)) return text
    const value = (quoted ?? bare ?? '').trim()
    const asked = field === 'project' && !projects ? undefined : read(field, value)
    if (asked === undefined) notes.push(noteOn(field, value, projects))
    else filters.push({ ...asked, not: not !== undefined, text: `${field}:${value}` })
    return asked === undefined ? text : ' '
  })
  if (filters.length > 0 && /(?<!\S)OR(?!\S)/.test(rest))
    notes.push(`${filters[0]?.text} holds for the whole query, also beside OR.`)
  return { words: filters.length === 0 ? query : withoutLooseAnds(rest), filters, notes: [...new Set(notes)] }
}

const read = (field: string, value: string): Asked | undefined => readers[field]?.(value)

const oneOf = <Word extends string>(words: readonly Word[], value: string): Word | undefined =>
  words.find((word) => word === value.toLowerCase())

const readers: Readonly<Record<string, (value: string) => Asked | undefined>> = {
  is: (given) => known(oneOf(states, given), (value) => ({ field: 'is', value })),
  has: (given) => (/^attachments?$/i.test(given) ? { field: 'has', value: 'attachment' } : undefined),
  importance: (given) => known(oneOf(degrees, given), (value) => ({ field: 'importance', value })),
  before: (given) => known(timeOf(given), (value) => ({ field: 'before', value })),
  after: (given) => known(timeOf(given), (value) => ({ field: 'after', value })),
  to: (value) => named('to', value),
  type: (value) => named('type', value),
  project: (value) => named('project', value),
}

const known = <Value>(value: Value | undefined, make: (value: Value) => Asked): Asked | undefined =>
  value === undefined ? undefined : make(value)

const named = (field: 'to' | 'type' | 'project', value: string): Asked | undefined =>
  value === '' ? undefined : { field, value }

/** A day begins at midnight in UTC, as the times in answers are. */
function timeOf(value: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:?\d\d)?)?$/i.test(value)) return undefined
  const time = Date.parse(value)
  return Number.isNaN(time) ? undefined : time
}

/** Values that a field takes, for the note on another one. */
const taken: Readonly<Record<string, string>> = {
  is: states.map((word) => `is:${word}`).join(', '),
  has: 'has:attachment',
  importance: `importance: with ${degrees.join(', ')}`,
  before: 'before: with a date such as 2026-01-31',
  after: 'after: with a date such as 2026-01-31',
}

/** Of somebody's text a note repeats so much. */
const repeated = 40

function noteOn(field: string, value: string, projects: boolean): string {
  const text = `${field}:${value.slice(0, repeated)}`
  const there = taken[field]
  if (there !== undefined) return `${text} is searched as text; there is ${there}.`
  const all = [...fields, ...Object.keys(readers).filter((name) => projects || name !== 'project')]
  return `${field}: is no operator, so ${text} is searched as text. There are ${all.map((name) => `${name}:`).join(' ')}`
}

/** An AND that joined a filter has nothing left to join. */
const withoutLooseAnds = (words: string): string =>
  words
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^(?:AND )+|(?: AND)+$|^AND$/g, '')
    .replace(/\bAND (?:AND )+/g, 'AND ')
    .replace(/\bOR AND\b/g, 'OR')
    .replace(/\bAND OR\b/g, 'OR')
    .replace(/\(\s*\)/g, ' ')
    .trim()
