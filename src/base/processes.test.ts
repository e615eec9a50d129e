/** Whether a process still lives. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isRunning, thisProcess } from './processes.ts'

test('this process runs, one of another machine may or may not, and a number alone proves nothing', () => {
  expect(isRunning(thisProcess())).toBe(true)
  expect(isRunning(`another-${hostname()}/1/1`)).toBeUndefined()
  expect(isRunning(`${hostname()}/${process.pid}/1`)).toBe(process.platform !== 'linux')
})

describe.skipIf(process.platform !== 'linux')('On Linux', () => {
  const fields = (pid: string) => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []

  test('a process runs until it is killed', async () => {
    const child = spawn('sleep', ['60'])
    const name = `${hostname()}/${child.pid}/${fields(String(child.pid))[19]}`
    expect(isRunning(name)).toBe(true)
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(isRunning(name)).toBe(false)
  })

  test('a process that has ended is gone, though its parent never asked how', async () => {
    // The shell becomes a program that knows nothing of the child it has.
    const parent = spawn('sh', ['-c', 'sleep 0.05 & echo $!; exec sleep 60'])
    onTestFinished(() => void parent.kill('SIGKILL'))
    const [pid] = String((await once(parent.stdout, 'data'))[0]).split('\n')
    const name = `${hostname()}/${pid}/${fields(pid ?? '')[19]}`
    await expect.poll(() => fields(pid ?? '')[0]).toBe('Z')
    expect(isRunning(name)).toBe(false)
  })
})
