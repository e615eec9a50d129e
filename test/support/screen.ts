/** A screen that is made up: a terminal of some width, or a pipe. */
import type { Screen } from '../../src/doors/cli/terminal/screen.ts'

export function testScreen({ tty, width = 80 }: { tty: boolean; width?: number }) {
  const seen = { out: '', err: '' }
  const write = (to: 'out' | 'err') => async (text: string) => {
    seen[to] += text
  }
  const input = { tty, async *read() {}, ask: async () => '' }
  const note = (line: string) => write('err')(`${line}\n`)
  const screen: Screen = { tty, errTty: tty, color: false, width, out: write('out'), err: write('err'), note, input }
  return { seen, screen }
}
