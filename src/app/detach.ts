/** `parley serve --detach`: a server in the background, which goes on when the terminal is closed. */
import { spawn } from 'node:child_process'
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pause } from '../base/clock.ts'
import { HubError } from '../base/errors.ts'
import type { Config } from '../settings/all.ts'
import { listRunning, type RunningServer, serverUrl } from './running.ts'

const launcher = fileURLToPath(new URL('../../bin/parley.js', import.meta.url))

export const serveLog = (storageRoot: string): string => join(storageRoot, 'serve.log')

/** Ends once the server is ready; one that does not get there is told with the end of its log. */
export async function serveDetached(
  config: Config,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<RunningServer> {
  const { STORAGE_ROOT: root } = config
  const there = listRunning(root).find(({ url }) => url === serverUrl(config))
  if (there !== undefined)
    throw new HubError(
      'CONFLICT',
      `Parley ${there.version} is already running at ${there.url} (process ${there.pid}).`,
      {
        hint: '`parley status` shows it. To restart it: parley stop && parley serve --detach',
      },
    )
  mkdirSync(root, { recursive: true, mode: 0o700 })
  const log = openSync(serveLog(root), 'a', 0o600)
  const before = fstatSync(log).size
  const child = spawn(process.execPath, [launcher, 'serve', ...args], {
    detached: true,
    env,
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  let ended: string | undefined
  child.once('error', (error) => {
    ended = error.message
  })
  child.once('exit', (code, signal) => {
    ended = `it ended with ${code ?? signal}`
  })
  child.unref()
  while (ended === undefined) {
    const server = listRunning(root).find(({ pid }) => pid === child.pid)
    if (server !== undefined) return server
    await pause(20)
  }
  // Of this start alone: the lines of an earlier one would tell that it is ready.
  const lines = readFileSync(serveLog(root)).subarray(before).toString('utf8').trimEnd().split('\n')
  throw new HubError('STORAGE_FAILED', `The server did not start: ${ended}.\n${lines.slice(-5).join('\n')}`, {
    hint: `The whole log is in ${serveLog(root)}.`,
  })
}

/** Told to stop, a server drains, then ends its calls within five seconds; the servers that are still there after ten are returned. */
export async function stopServers(
  root: string,
  drainSeconds: number,
): Promise<{ stopped: RunningServer[]; left: RunningServer[] }> {
  const servers = listRunning(root)
  for (const { pid } of servers) process.kill(pid, 'SIGTERM')
  const stillThere = () => listRunning(root).filter(({ pid }) => servers.some((server) => server.pid === pid))
  for (let tries = 0; tries < 20 * (10 + drainSeconds) && stillThere().length > 0; tries++) await pause(50)
  const left = stillThere()
  return { stopped: servers.filter(({ pid }) => !left.some((server) => server.pid === pid)), left }
}
