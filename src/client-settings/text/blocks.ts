/** Marked blocks in files of lines: Markdown, lists such as git's `exclude`, and scripts. */
import { type Block, type Edit, LeaveAlone, type SettingsText } from '../shapes.ts'

interface Marks {
  begin(name: string): string
  end(name: string): string
  /** An empty line before the block. */
  readonly spaced: boolean
}

export const markedText = marked({
  begin: (name) => `<!-- parley:begin ${name} (written by parley init) -->`,
  end: (name) => `<!-- parley:end ${name} -->`,
  spaced: true,
})

export const markedLines = marked({
  begin: (name) => `# >>> parley ${name} >>>`,
  end: (name) => `# <<< parley ${name} <<<`,
  spaced: false,
})

export const markedScript = marked({
  begin: (name) => `// >>> parley ${name} (written by parley init) >>>`,
  end: (name) => `// <<< parley ${name} <<<`,
  spaced: true,
})

function marked({ begin, end, spaced }: Marks): SettingsText {
  /** The lines of the file, each with its end, and the first and the last one of the block. */
  function locate(text: string, edit: Edit) {
    const { name } = needBlock(edit)
    const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? []
    const at = (mark: string) => lines.flatMap((line, index) => (line.trim() === mark ? [index] : []))
    const [begins, ends] = [at(begin(name)), at(end(name))]
    const [first, last] = [begins[0], ends[0]]
    if (first === undefined && last === undefined) return { lines, found: undefined }
    if (first === undefined || last === undefined || begins.length > 1 || ends.length > 1 || last < first)
      throw new LeaveAlone(`the marks "${begin(name)}" and "${end(name)}" do not stand in it once each, in this order`)
    return { lines, found: { first, last } }
  }
  return {
    find(text, edit) {
      const { lines, found } = locate(text, edit)
      return found && lines.slice(found.first + 1, found.last).map((line) => line.replace(/\r?\n$/, ''))
    },
    put(text, edit) {
      const { name, lines: own } = needBlock(edit)
      const { lines, found } = locate(text, edit)
      const eol = /\r?\n/.exec(text)?.[0] ?? '\n'
      const block = [begin(name), ...own, end(name)].join(eol)
      if (found) {
        const rest = lines[found.last]?.endsWith('\n') ? eol : ''
        const [before, after] = [lines.slice(0, found.first), lines.slice(found.last + 1)]
        return { text: [...before, block, rest, ...after].join(''), holders: 0 }
      }
      const open = text !== '' && !text.endsWith('\n') ? eol : ''
      const gap = spaced && text !== '' && !/(^|\n)[ \t]*\r?\n$/.test(text + open) ? eol : ''
      return { text: `${text}${open}${gap}${block}${eol}`, holders: 0 }
    },
    take(text, { edit }) {
      const { lines, found } = locate(text, edit)
      if (!found) return text
      const gap = spaced && found.first > 0 && lines[found.first - 1]?.trim() === '' ? 1 : 0
      return [...lines.slice(0, found.first - gap), ...lines.slice(found.last + 1)].join('')
    },
  }
}

function needBlock(edit: Edit): Block {
  if (edit.kind === 'block') return edit
  throw new TypeError(`A file of lines takes blocks, not ${edit.kind}.`)
}
