/**
 * `npm run dev`: serves from the source, starts anew when a file of it changes, and builds it again for the programs that
 * clients start (`bin/parley.js`). Arguments are those of `parley serve`. Not `node --watch`: its reports of what a thread
 * loads come among the messages of that thread.
 */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { watch } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { endAs, run } from '../bin/child.js'
import { root } from '../bin/runtime.js'

/** An editor may save several files at once. */
const savingMs = 100

const source = watch(join(root, 'src'), { recursive: true })
for (;;) {
  const change = once(source, 'change')
  let server: ChildProcess | undefined
  const built = start('scripts/build.ts')
  const served = start('src/main.ts', ['serve', ...process.argv.slice(2)], (child) => {
    server = child
  })
  const ended = await Promise.race([served, change.then(() => undefined)])
  if (ended?.stopped) {
    source.close()
    // While the build is there, it takes the signal by which this process is to end.
    await built
    endAs(ended)
    break
  }
  // A server that failed by itself has said why: the next change may mend it.
  await change
  await sleep(savingMs)
  server?.kill()
  await Promise.all([served, built])
}

function start(script: string, args: readonly string[] = [], started?: (child: ChildProcess) => void) {
  return run(process.execPath, [join(root, script), ...args], { stdio: 'inherit', ...(started && { started }) })
}
