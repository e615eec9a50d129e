/** A line that shows how far long work has come, for a person who waits. */
import type { Screen } from './screen.ts'

export type Progress = (done: number, total: number) => void

/** Drawn on stderr where that is a terminal; a file or a program gets none. Without a total it only counts. */
export async function withProgress<T>(
  screen: Screen,
  what: string,
  work: (progress: Progress) => Promise<T>,
): Promise<T> {
  let shown = ''
  const draw: Progress = (done, total) => {
    if (!screen.errTty) return
    const percent = total === 0 ? undefined : Math.floor((100 * done) / total)
    const full = Math.floor((percent ?? 0) / 4)
    const line =
      percent === undefined
        ? `${what}: ${(Math.floor(done / 100) * 100).toLocaleString('en')}`
        : `${what} [${'#'.repeat(full)}${' '.repeat(25 - full)}] ${percent} %`
    if (line === shown) return
    shown = line
    void screen.err(`\r${line}`)
  }
  try {
    return await work(draw)
  } finally {
    if (shown !== '') await screen.err('\r\x1b[K')
  }
}
