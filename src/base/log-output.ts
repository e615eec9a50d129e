/** Where lines of the log go besides a stream: a file that programs rotate, and the journal of systemd. */
import { closeSync, fstatSync, openSync, writeSync } from 'node:fs'
import type { DestinationStream } from 'pino'

export interface LogFile extends DestinationStream {
  /** Goes on in a new file of the same name, after the old one was renamed; throws, and goes on in the old one, if that cannot be opened. */
  reopen(): void
}

/** Each line is in the file before the next is made, and at its end whoever else wrote or cut it: neither way of logrotate tears one. */
export function openLogFile(path: string): LogFile {
  const open = () => openSync(path, 'a', 0o640)
  let file = open()
  return {
    write(line) {
      try {
        writeSync(file, line)
      } catch {
        // The disk is full, say. The calls that are logged are worth more than their lines.
      }
    },
    reopen() {
      const next = open()
      closeSync(file)
      file = next
    },
  }
}

/** Whether a file descriptor is the journal's own: `JOURNAL_STREAM` names it as `device:inode`, and may be inherited by others. */
export function isJournal(stream: string | undefined, descriptor: number): boolean {
  if (stream === undefined) return false
  try {
    const { dev, ino } = fstatSync(descriptor)
    return stream === `${dev}:${ino}`
  } catch {
    return false
  }
}

/** Levels of pino to priorities of syslog. */
const priorities = [
  [60, 2],
  [50, 3],
  [40, 4],
  [30, 6],
] as const

const priorityOf = (level: number): number => priorities.find(([least]) => level >= least)?.[1] ?? 7

/** Begins each line with its priority, which the journal takes off again: `journalctl -p warning` finds it. */
export const journalOutput = (to: DestinationStream): DestinationStream => ({
  // pino sets `lastLevel` on a stream that says so.
  ...{ [Symbol.for('pino.metadata')]: true, lastLevel: 30 },
  write(this: { lastLevel: number }, line: string) {
    to.write(`<${priorityOf(this.lastLevel)}>${line}`)
  },
})
