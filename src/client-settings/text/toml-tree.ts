/** TOML as a list of statements that know their place in the text: tables, lists of tables, and pairs of key and value. */
import { type Json, LeaveAlone } from '../shapes.ts'

export interface Statement {
  readonly kind: 'table' | 'tables' | 'pair'
  /** From the root of the file. */
  readonly path: readonly string[]
  readonly value?: Json
  /** Its lines, with the end of the last one. */
  readonly start: number
  readonly end: number
}

type Values = { [key: string]: Json }

export function parseToml(text: string): Statement[] {
  const reader = new Reader(text)
  const statements: Statement[] = []
  let table: readonly string[] = []
  for (reader.skipLines(); !reader.atEnd; reader.skipLines()) {
    const start = reader.lineStart
    const mark = reader.take(/\[\[?/y)
    const path = reader.key()
    if (mark === '') {
      reader.need('=')
      const value = reader.value()
      statements.push({ kind: 'pair', path: [...table, ...path], value, start, end: reader.endOfLine() })
      continue
    }
    reader.need(mark === '[' ? ']' : ']]')
    table = path
    statements.push({ kind: mark === '[' ? 'table' : 'tables', path, start, end: reader.endOfLine() })
  }
  return statements
}

/** All that the statements say. */
export function valuesOf(statements: readonly Statement[]): Values {
  const root: Values = {}
  const defined = new Set<string>()
  for (const { kind, path, value } of statements) {
    const parent = path.slice(0, -1).reduce(inside, root)
    const name = path.at(-1) ?? ''
    if (kind === 'tables') {
      const list = parent[name] ?? []
      if (!Array.isArray(list)) throw twice(path)
      parent[name] = [...(list as Json[]), {}]
    } else if (kind === 'table') {
      // A list of tables may have tables of the same name, one in each of its items.
      const id = JSON.stringify(path)
      if (
        defined.has(id) &&
        !statements.some((one) => one.kind === 'tables' && path.join('\0').startsWith(one.path.join('\0')))
      )
        throw twice(path)
      defined.add(id)
      inside(parent, name)
    } else {
      if (Object.hasOwn(parent, name)) throw twice(path)
      parent[name] = value ?? null
    }
  }
  return root
}

const twice = (path: readonly string[]): LeaveAlone => new LeaveAlone(`${path.join('.')} stands in it twice`)

function inside(holder: Values, name: string): Values {
  const there = Object.hasOwn(holder, name) ? holder[name] : undefined
  const value = Array.isArray(there) ? (there.at(-1) as Json) : there
  if (value === undefined) {
    const made: Values = {}
    Object.defineProperty(holder, name, { value: made, enumerable: true, writable: true, configurable: true })
    return made
  }
  if (typeof value !== 'object' || value === null) throw new LeaveAlone(`${name} is no table`)
  return value as Values
}

const escapes: Readonly<Record<string, string>> = {
  b: '\b',
  t: '\t',
  n: '\n',
  f: '\f',
  r: '\r',
  e: '\x1b',
  '"': '"',
  '\\': '\\',
}

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  get atEnd(): boolean {
    return this.#at >= this.#text.length
  }

  get lineStart(): number {
    return this.#text.lastIndexOf('\n', this.#at - 1) + 1
  }

  /** The text that the pattern matches here, if it does. */
  take(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const [found = ''] = pattern.exec(this.#text) ?? []
    this.#at += found.length
    return found
  }

  fail(): never {
    const line = this.#text.slice(0, this.#at).split('\n').length
    throw new LeaveAlone(`line ${line} of it is no TOML: mend it, and run init again`)
  }

  need(mark: string): void {
    this.take(/[ \t]*/y)
    if (!this.#text.startsWith(mark, this.#at)) this.fail()
    this.#at += mark.length
  }

  /** White space, ends of lines and comments. */
  skipLines(): void {
    this.take(/(?:[ \t\r\n]|#[^\n]*)*/y)
  }

  /** A comment may stand behind a statement, and nothing else. */
  endOfLine(): number {
    this.take(/[ \t]*(?:#[^\r\n]*)?/y)
    if (!this.atEnd && this.take(/\r?\n/y) === '') this.fail()
    return this.#at
  }

  key(): string[] {
    const parts: string[] = []
    do {
      this.take(/[ \t]*/y)
      const bare = this.take(/[\w-]+/y)
      parts.push(bare === '' ? this.#quoted() : bare)
      this.take(/[ \t]*/y)
    } while (this.take(/\./y) !== '')
    return parts
  }

  value(): Json {
    this.take(/[ \t]*/y)
    const next = this.#text[this.#at]
    if (next === '"' || next === "'") return this.#string()
    if (next === '[') return this.#list()
    if (next === '{') return this.#inlineTable()
    const word = this.take(/[\w+.:-]+(?: \d\d:[\d:.]+(?:Z|[+-]\d\d:\d\d)?)?/y)
    if (word === 'true' || word === 'false') return word === 'true'
    const number = Number(word.replace(/(?<=\w)_(?=\w)/g, ''))
    if (/^[+-]?(\d|0[xob]|inf$|nan$)/.test(word))
      return Number.isFinite(number) && !/^\d{4}-|:/.test(word) ? number : word
    return this.fail()
  }

  #list(): Json {
    const items: Json[] = []
    this.need('[')
    for (this.skipLines(); this.take(/\]/y) === ''; this.skipLines()) {
      items.push(this.value())
      this.skipLines()
      if (this.take(/,/y) === '' && this.#text[this.#at] !== ']') this.fail()
    }
    return items
  }

  #inlineTable(): Json {
    const table: Values = {}
    this.need('{')
    for (this.skipLines(); this.take(/\}/y) === ''; this.skipLines()) {
      const path = this.key()
      this.need('=')
      const holder = path.slice(0, -1).reduce(inside, table)
      const name = path.at(-1) ?? ''
      if (Object.hasOwn(holder, name)) throw twice(path)
      holder[name] = this.value()
      this.skipLines()
      if (this.take(/,/y) === '' && this.#text[this.#at] !== '}') this.fail()
    }
    return table
  }

  #string(): string {
    const long = this.take(/"""\r?\n?|'''\r?\n?/y)
    if (long === '') return this.#quoted()
    const body =
      long[0] === '"'
        ? this.take(/(?:[^"\\]|\\[\s\S]|"{1,2}(?!"))*"{0,2}(?=""")/y)
        : this.take(/(?:[^']|'{1,2}(?!'))*'{0,2}(?=''')/y)
    this.need(long.slice(0, 3))
    return long[0] === '"' ? this.#unescaped(body.replace(/\\[ \t]*\r?\n\s*/g, '')) : body
  }

  #quoted(): string {
    const literal = this.take(/'[^'\r\n]*'/y)
    if (literal !== '') return literal.slice(1, -1)
    const basic = this.take(/"(?:[^"\\\r\n]|\\.)*"/y)
    return basic === '' ? this.fail() : this.#unescaped(basic.slice(1, -1))
  }

  #unescaped(text: string): string {
    return text.replace(
      /\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|([\s\S]))/g,
      (_, four, eight, two, one) => {
        const code = four ?? eight ?? two
        if (code === undefined) return escapes[one] ?? this.fail()
        const point = Number.parseInt(code, 16)
        return point > 0x10ffff ? this.fail() : String.fromCodePoint(point)
      },
    )
  }
}
