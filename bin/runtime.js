/** Sees to it that a program runs on Node 24 or newer: in this process if it is new enough, else on a Node fetched for it. */
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { mallocSettings } from './malloc.js'

/** The checkout, or the installed package. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Why there is no Node to run on. It is told to the user; there is no fault in the program to trace. */
export class NoRuntime extends Error {}

const major = Number.parseInt(process.versions.node, 10)

/** Whether this Node runs Parley itself. */
export const isNewEnough = major >= 24

/** Whether it runs `parley wait`, `hook` and `attach`, which start in the middle of a client's turn: there is no time for another Node. */
export const runsWaker = major >= 20

/** Tells the program that a launcher started it, and holds the other end of its channel. */
const launched = 'PARLEY_LAUNCHED'

/**
 * Calls `start` if this Node is new enough; else runs this same command line on a newer one, and ends as that ends.
 * @param {() => unknown} start
 */
export async function onNode24(start) {
  if (isNewEnough) {
    endWithLauncher()
    return start()
  }
  try {
    if (major < 20) throw new NoRuntime('only Node 20 and newer can fetch it')
    // Loaded only now: a start on Node 24 has no need of it, and a Node before 20 may not understand it.
    const { ensureRuntime } = await import('./download.js')
    const { run, endAs } = await import('./child.js')
    // Sockets that systemd has opened are descriptors from 3 on, and stay where they are.
    const { LISTEN_PID, LISTEN_FDS } = process.env
    const passed = LISTEN_PID === String(process.pid) ? Number(LISTEN_FDS) : 0
    const sockets = Array.from({ length: passed }, (_, at) => 3 + at)
    const options = {
      stdio: ['inherit', 'inherit', 'inherit', ...sockets, 'ipc'],
      env: { ...mallocSettings, ...process.env, [launched]: '1' },
    }
    endAs(await run(await ensureRuntime(), process.argv.slice(1), options))
  } catch (error) {
    if (!(error instanceof NoRuntime)) throw error
    console.error(
      `Parley needs Node 24 or newer. This is Node ${process.versions.node}, and ${error.message}.\n` +
        "Install Node 24 or newer with your system's package manager or from nodejs.org, then start Parley again.",
    )
    process.exitCode = 1
  }
}

/** A launcher that is killed outright cannot pass that on. The program notices that its channel closed, and ends the same way. */
function endWithLauncher() {
  if (!process.env[launched] || !process.channel) return
  delete process.env[launched]
  process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'))
  process.channel.unref()
}
