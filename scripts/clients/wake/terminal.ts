/** A window of a client in a tmux of its own: started, typed into, read, and ended. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface Terminal {
  /** The process of the window's command. */
  readonly pid: number
  screen(): Promise<string>
  /** Text, and Enter once it is there: in one call the Enter is lost. The time of the Enter. */
  type(text: string): Promise<number>
  keys(...names: string[]): Promise<void>
  until(test: (screen: string) => boolean, about: string, seconds?: number): Promise<string>
  close(): Promise<void>
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export async function openTerminal(given: {
  readonly socket: string
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
}): Promise<Terminal> {
  const { socket, command, env, cwd } = given
  const tmux = (...args: string[]) => run('tmux', ['-L', socket, '-f', '/dev/null', ...args], { env })
  // The command is the process of the pane itself: no shell is left between them.
  await tmux('new-session', '-d', '-x', '140', '-y', '50', '-c', cwd, ...command)
  const [pid = ''] = (await tmux('display-message', '-p', '#{pane_pid}')).stdout.trim().split('\n')
  const screen = async () => (await tmux('capture-pane', '-p').catch(() => ({ stdout: '' }))).stdout
  return {
    pid: Number(pid),
    screen,
    async type(text) {
      const shows = async () => (await screen()).split(text.slice(0, 20)).length
      const before = await shows()
      await tmux('send-keys', '-l', '--', text)
      // A client that reads both at once takes the Enter for a part of what was pasted.
      for (let looks = 0; looks < 50 && (await shows()) === before; looks++) await sleep(100)
      await sleep(300)
      const entered = performance.now()
      await tmux('send-keys', 'Enter')
      return entered
    },
    async keys(...names) {
      await tmux('send-keys', ...names)
    },
    async until(test, about, seconds = 60) {
      const end = performance.now() + seconds * 1000
      for (;;) {
        const shown = await screen()
        if (test(shown)) return shown
        if (performance.now() > end)
          throw new Error(`${about}: not on the screen after ${seconds} s:\n${shown.trimEnd()}`)
        await sleep(100)
      }
    },
    async close() {
      await tmux('kill-server').catch(() => {})
    },
  }
}
