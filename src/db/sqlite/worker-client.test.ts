/** A thread that answers questions: one that ends or fails is told to those who asked, and another takes its place. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { WorkerClient } from './worker-client.ts'

/** A thread that runs `body` for each list of questions. */
function startThread(body: string) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-asked-'))
  const script = pathToFileURL(join(folder, 'thread.mjs'))
  writeFileSync(
    script,
    `import { parentPort, threadId } from 'node:worker_threads'
    const answer = (asked) => parentPort.postMessage(asked.map(({ id }) => ({ id, found: threadId })))
    parentPort.on('message', (asked) => {
      if (asked === 'close') return parentPort.close()
      ${body}
    })`,
  )
  const thread = new WorkerClient<{ ask: string }>(script)
  onTestFinished(async () => {
    await thread.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return (what = 'who') => thread.ask<number>({ ask: what })
}

test.for([
  ['dies of an error', "throw new Error('too much')", 'too much'],
  ['ends', 'process.exit()', 'The thread has ended.'],
])('Who asks a thread that %s is told so, and the next question is answered by another', async ([, body, told]) => {
  const ask = startThread(`if (asked[0].ask !== 'fall') return answer(asked); ${body}`)
  const first = await ask()
  const falling = [ask('fall'), ask('fall')]
  for (const asked of falling) await expect(asked).rejects.toThrow(told)
  expect(await ask()).not.toBe(first)
})
