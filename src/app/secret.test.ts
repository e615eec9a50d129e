/** The kept key: made once, private, the same for everybody who asks. */
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { verifies } from '../../test/support/verifies.ts'
import { keepSecret as keep } from './secret.ts'

/** Keeps the warnings; what is logged beside the sentence is the path. */
function keepSecret(root: string, warnings: string[] = []): string {
  return keep(root, { warn: (_: object, says: string) => void warnings.push(says) })
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'parley-secret-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

const modeOf = (path: string): number => statSync(path).mode & 0o777

test('A key is made once, with mode 600, in a folder of mode 700', () => {
  const root = join(folder(), 'new', 'storage')
  const key = keepSecret(root)
  expect(Buffer.from(key, 'base64url')).toHaveLength(32)
  expect(keepSecret(root)).toBe(key)
  expect(readFileSync(join(root, 'secret.key'), 'utf8')).toBe(`${key}\n`)
  expect(modeOf(join(root, 'secret.key'))).toBe(0o600)
  expect(modeOf(root)).toBe(0o700)
  expect(readdirSync(root)).toEqual(['secret.key'])
})

test('Two folders have two keys', () => {
  expect(keepSecret(folder())).not.toBe(keepSecret(folder()))
})

test('A key that somebody put there is taken, without the white space around it', () => {
  const root = folder()
  writeFileSync(join(root, 'secret.key'), '  my own secret key\r\n')
  chmodSync(join(root, 'secret.key'), 0o640)
  expect(keepSecret(root)).toBe('my own secret key')
  expect(modeOf(join(root, 'secret.key'))).toBe(0o640)
})

verifies('serve.secret.weak', 'A key that can be guessed is refused and left as it is', () => {
  for (const [key, reason] of [
    ['fifteen letters', /16 characters/],
    ['abababababababababababababababab', /8 different characters/],
    ['change-me-to-a-random-string', /one of your own/],
  ] as const) {
    const root = folder()
    writeFileSync(join(root, 'secret.key'), key, { mode: 0o600 })
    expect(() => keepSecret(root)).toThrow(reason)
    expect(() => keepSecret(root)).toThrow(/secret\.key is too weak/)
    expect(readFileSync(join(root, 'secret.key'), 'utf8')).toBe(key)
  }
})

verifies('serve.secret.readable', 'A key that others may read is warned of, and one that is private is not', () => {
  const root = folder()
  const warnings: string[] = []
  const key = keepSecret(root, warnings)
  expect(warnings).toEqual([])
  for (const mode of [0o640, 0o604, 0o660]) {
    chmodSync(join(root, 'secret.key'), mode)
    expect(keepSecret(root, warnings)).toBe(key)
    expect(warnings.splice(0)).toEqual([expect.stringMatching(/others may read .* mode 600/)])
  }
})

test('An empty file is refused, not filled: it may be a disk that lost what was written', () => {
  const root = folder()
  writeFileSync(join(root, 'secret.key'), '\n')
  expect(() => keepSecret(root)).toThrow(/secret\.key is empty/)
  expect(readFileSync(join(root, 'secret.key'), 'utf8')).toBe('\n')
  expect(readdirSync(root)).toEqual(['secret.key'])
})

test('Whoever asks at the same moment gets the same key', async () => {
  const code = `
    const { parentPort, workerData } = require('node:worker_threads')
    import(workerData.module).then(({ keepSecret }) => {
      const start = new Int32Array(workerData.start)
      parentPort.postMessage('ready')
      Atomics.wait(start, 0, 0)
      parentPort.postMessage(workerData.roots.map((root) => keepSecret(root, { warn() {} })))
    })`
  const roots = Array.from({ length: 50 }, folder)
  const start = new SharedArrayBuffer(4)
  const module = new URL('./secret.ts', import.meta.url).href
  const workers = Array.from({ length: 4 }, () => {
    const worker = new Worker(code, { eval: true, workerData: { module, roots, start } })
    const { promise: ready, resolve: isReady, reject } = Promise.withResolvers<void>()
    const { promise: keys, resolve: tell } = Promise.withResolvers<string[]>()
    onTestFinished(async () => void (await worker.terminate()))
    worker.on('error', reject)
    worker.on('message', (message: 'ready' | string[]) => (message === 'ready' ? isReady() : tell(message)))
    return { ready, keys }
  })
  await Promise.all(workers.map(({ ready }) => ready))
  Atomics.store(new Int32Array(start), 0, 1)
  Atomics.notify(new Int32Array(start), 0)
  const [first, ...others] = await Promise.all(workers.map(({ keys }) => keys))
  expect(new Set(first).size).toBe(50)
  for (const keys of others) expect(keys).toEqual(first)
  for (const root of roots) expect(readdirSync(root)).toEqual(['secret.key'])
})
