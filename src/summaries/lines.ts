/** The lines of a message in Markdown, sorted without understanding it: points, questions, actions, decisions, code. */
import { wordsOf } from '../fulltext/words.ts'

interface Reading {
  readonly points: readonly string[]
  readonly questions: readonly string[]
  readonly actions: readonly string[]
  /** Actions that are ticked off. */
  readonly done: readonly string[]
  readonly decisions: readonly string[]
  readonly code: readonly string[]
}

/** Of a longer message only the beginning is read. */
export const readLength = 20_000

export const itemLength = 200

/** Of a longer sentence only the beginning is looked at, and how it ends: it is shown cut shorter than that. */
const sentenceLength = 500

type Kind = 'points' | 'questions' | 'actions' | 'decisions'

/** All that `.` does not match, so that the end of a line is found at once. */
const lineBreak = /\r\n|[\n\r\u2028\u2029]/
const fence = /^\s{0,3}(`{3,}|~{3,})/
const quoted = /^\s{0,3}>/
const heading = /^\s{0,3}#{1,6}\s+(.*)$/
const bullet = /^\s*(?:[-*+]|\d{1,3}[.)])\s+(.*)$/
const box = /^\[([ xX])\]\s+(.*)$/
const todo = /\b(?:TODO|FIXME)\b(?:\([^)]{0,40}\))?[:\s-]+(.*)$/
const labels: readonly (readonly [RegExp, Kind])[] = [
  [/^(?:action(?: item)?s?|next steps?|to-?dos?|tasks?)\b(.*)$/i, 'actions'],
  [/^(?:decisions?|decided|agreed|resolution|resolved)\b(.*)$/i, 'decisions'],
  [/^(?:open )?questions?\b(.*)$/i, 'questions'],
]

/** A line that is no continuation of the one before it. */
const begins =
  /^[\s*_]*(?:(?:TODO|FIXME)\b|[A-Z][a-z]+(?: [a-z]+)?:|(?:I|We)(?:['’]ll| will)\b|(?:Decided|Agreed|Resolved)\b)/

/** A label whose text stands on the next line. */
const bareLabel = /^[\s*_]*[A-Za-z][A-Za-z -]{2,20}:[\s*_]*$/

/** An editor that wraps lines leaves none shorter than this together with the next word. */
const wrapLength = 66
const sentenceEnd = /[.!?:;…][)"'’”*_`]*$/

/** Whether a line goes on with the statement of the line before it: people end a line, editors wrap one. */
function goesOn(before: string, line: string): boolean {
  if (before === '' || begins.test(line)) return false
  if (bareLabel.test(before)) return true
  const [word = ''] = line.split(/\s/, 1)
  return before.length + 1 + word.length > wrapLength && !sentenceEnd.test(before)
}

const stored = String.raw`attachments\/(?:originals\/)?[0-9a-f]{2}\/[0-9a-f]{40}\.\w{1,10}`
const dataUri = String.raw`data:(?:[\w.+-]{1,80}\/[\w.+-]{1,80})?(?:;[\w.=-]{1,80}){0,5},[^\s<>()"'\`\]]*`
const image = new RegExp(String.raw`!\[([^\][\n]{0,200})\]\(\s{0,9}<?(?:${dataUri}|${stored})[^)\n]{0,200}\)?`, 'gi')
const address = new RegExp(String.raw`\b(?:${dataUri}|${stored})`, 'gi')

/** The text with images by what describes them: their content, or their place in the archive, tells a reader nothing. */
export const withoutFiles = (text: string): string => text.replace(image, '$1').replace(address, '')

/** Reads line by line: each is a statement of its own, unless it goes on with the one before. */
export function readMarkdown(body: string): Reading {
  const found = { points: [], questions: [], actions: [], done: [], decisions: [], code: [] } as {
    [Key in keyof Reading]: string[]
  }
  let closing: string | undefined
  let section: Kind | undefined
  let paragraph = ''
  let before = ''

  const end = () => {
    if (paragraph.trim() !== '') readSentences(paragraph)
    paragraph = ''
    before = ''
  }

  for (const line of withoutFiles(body).slice(0, readLength).split(lineBreak)) {
    if (line.trim() === '') {
      end()
      continue
    }
    const mark = fence.exec(line)?.[1]
    if (mark !== undefined && (closing === undefined || mark.startsWith(closing))) {
      end()
      closing = closing === undefined ? mark : undefined
      continue
    }
    if (closing !== undefined || quoted.test(line)) continue
    for (const reference of codeIn(line)) found.code.push(reference)
    const title = heading.exec(line)?.[1]
    if (title !== undefined) {
      end()
      section = labels.find(([pattern]) => pattern.test(title))?.[1]
      continue
    }
    const item = bullet.exec(line)?.[1]
    if (item !== undefined) {
      end()
      readItem(item)
      continue
    }
    const text = line.trim()
    if (!goesOn(before, text)) end()
    paragraph += ` ${text}`
    before = text
  }
  end()
  return found

  function readItem(item: string): void {
    const text = item.slice(0, sentenceLength)
    const [, tick, task] = box.exec(text) ?? []
    if (tick !== undefined && task !== undefined) note(tick === ' ' ? 'actions' : 'done', plain(task))
    else if (section !== undefined) note(section, plain(text))
    else readSentences(item)
  }

  function readSentences(text: string): void {
    for (const piece of text.split(/(?<=[.!?])\s+(?=[\p{Lu}\d"'(`*])/u)) {
      const sentence = plain(piece.slice(0, sentenceLength))
      const task = todo.exec(sentence)?.[1]?.trim()
      if (task) note('actions', task)
      else if (wordsOf(sentence).length > 1) read(sentence, piece)
    }
  }

  function read(sentence: string, whole: string): void {
    for (const [pattern, kind] of labels) {
      const said = /^\s*:\s*(.*)$/.exec(pattern.exec(sentence)?.[1] ?? '')?.[1]
      if (said === undefined) continue
      if (said !== '') note(kind, said)
      return
    }
    note(asks(whole) ? 'questions' : kindOf(sentence), sentence)
  }

  function note(kind: keyof Reading, text: string): void {
    found[kind].push(cut(text, itemLength))
  }
}

const question = /\?[)"'’”*_]*$/
const asks = (sentence: string): boolean => question.test(sentence.trimEnd().slice(-20))

const decision =
  /^(?:decided|agreed|settled|resolved) (?:to|on|that|not|against)\b|\b(?:(?:we|i|they)(?:['’]ve| have)? (?:decided|agreed|settled|chose|approved)|(?:it )?(?:was|is) (?:decided|agreed|approved)|let['’]?s go with|(?:going|we['’]ll go|will go) with|final decision)\b/i
/** Somebody who will, not something that will happen. A name begins a word: else each letter would be tried as its first. */
const promise =
  /\b(?:I|[Ww]e)(?:['’]ll| will)\b|(?<![\p{L}\p{M}\p{N}_-])(?!(?:It|This|That|There|Which|What|They|These|Those|You)\b)\p{Lu}[\p{L}\p{M}\p{N}_-]{0,100} will\b/u

function kindOf(sentence: string): 'decisions' | 'actions' | 'points' {
  if (decision.test(sentence)) return 'decisions'
  return promise.test(sentence) ? 'actions' : 'points'
}

/** One line without the marks of Markdown, controls, or marks that turn the direction of text around. */
export function plain(text: string): string {
  return text
    .replace(/!?\[([^\]]{0,200})\]\([^)\s]{0,500}\)/g, '$1')
    .replace(/\*\*|__|~~/g, '')
    .replace(/[\s\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .trim()
}

export function cut(text: string, length: number): string {
  if (text.length <= length) return text
  const piece = text.slice(0, length - 1).replace(/\s\S{0,30}$/, '')
  return `${piece.replace(/[\ud800-\udbff]$/, '')}…`
}

const span = /`([^`\n]{1,80})`/g
const path = /^\.{0,2}\/?[\w@.-]+(?:\/[\w@.-]+)+\.[A-Za-z]\w{0,9}(?::\d+(?:-\d+)?)?$/
const file =
  /^[\w@.-]+\.(?:[cm]?[jt]sx?|py|go|rs|java|kt|rb|c|h|cc|cpp|hpp|cs|php|swift|sh|sql|md|json|ya?ml|toml|css|html)(?::\d+(?:-\d+)?)?$/

function codeIn(line: string): string[] {
  const spans = Array.from(line.matchAll(span), ([, code = '']) => code.trim())
  const names = line
    .replace(span, ' ')
    .split(/[\s"'<>()[\]{},;*]+/)
    .filter((word) => word.length <= 120)
    .map((word) => word.replace(/[.:!?]+$/, ''))
    .filter((word) => path.test(word) || file.test(word))
  return [...spans, ...names].filter((code) => code !== '')
}
