/** A log whose lines a test can read. */
import { pino } from 'pino'
import type { Log } from '../../src/base/log.ts'

export type Line = Record<string, unknown> & { level: number; msg: string }

export function readableLog(): { log: Log; lines: Line[] } {
  const lines: Line[] = []
  const log = pino({ level: 'trace' }, { write: (text: string) => void lines.push(JSON.parse(text)) })
  return { log, lines }
}
