/** Listening to other processes on SQLite: only while somebody waits, and without a gap when somebody comes. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createLog } from '../../base/log.ts'
import type { Db, Wake } from '../../db/port.ts'
import { followWakes } from './follow-wakes.ts'
import { Wakes } from './wakes.ts'

const log = createLog({ level: 'silent', json: true, rich: false, to: process.stderr })

let listeners: Set<Wake>
let feed: { id: number; wakes: string }[]
let wakes: Wakes
let stop: () => Promise<void>

beforeEach(async () => {
  listeners = new Set()
  feed = []
  wakes = new Wakes()
  const db = {
    dialect: 'sqlite',
    all: async ({ text, values }: { text: string; values: unknown[] }) =>
      text.includes('MAX(id)') ? [{ id: feed.at(-1)?.id ?? 0 }] : feed.filter(({ id }) => id > Number(values[0])),
    listen: async (wake: Wake) => {
      listeners.add(wake)
      return async () => void listeners.delete(wake)
    },
  }
  stop = await followWakes({ db: db as unknown as Db, log }, wakes)
})

afterEach(() => stop())

function commitElsewhere(channel: string): void {
  feed.push({ id: feed.length + 1, wakes: channel })
  for (const wake of listeners) wake(undefined)
}

test('nobody listens before somebody waits, and no longer than that', async () => {
  expect(listeners.size).toBe(0)
  const off = wakes.on('thread:1', () => {})
  expect(listeners.size).toBe(1)
  off()
  commitElsewhere('thread:1')
  await expect.poll(() => listeners.size).toBe(0)
})

test('who comes to wait again is woken again, and not by what was there before', async () => {
  wakes.on('thread:1', () => {})()
  commitElsewhere('thread:1')
  await expect.poll(() => listeners.size).toBe(0)
  commitElsewhere('thread:2')
  const woken: string[] = []
  wakes.on('thread:1', () => woken.push('thread:1'))
  wakes.on('thread:2', () => woken.push('thread:2'))
  commitElsewhere('thread:1')
  await expect.poll(() => woken).toEqual(['thread:1'])
})

test('a commit right after somebody came to wait wakes it', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  wakes.on('thread:1', () => resolve())
  commitElsewhere('thread:1')
  await promise
})
