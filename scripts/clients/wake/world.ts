/** A user with a home, a repository and one client, set up by `parley init`; a hub, and a scripted model. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { WakeClient } from './clients.ts'
import { type HubServer, openHub } from './hub.ts'
import { type Model, startModel } from './model.ts'
import { kill, processesOf } from './processes.ts'
import { startRecorder } from './recorder.ts'
import { openTerminal, sleep, type Terminal } from './terminal.ts'

const run = promisify(execFile)

export interface World {
  readonly home: string
  readonly folder: string
  readonly hub: HubServer
  readonly model: Model
  /** `parley init` for this client; what it printed. */
  init(...args: string[]): Promise<string>
  /** A command of Parley that goes on, in the folder. */
  parley(...args: string[]): ChildProcess
  /** A window, past all questions. */
  open(more?: { readonly env?: Readonly<Record<string, string>>; readonly args?: readonly string[] }): Promise<Terminal>
  /** Answers what the window asks meanwhile: Codex asks about hooks at the first prompt. */
  during<Value>(terminal: Terminal, work: Promise<Value>): Promise<Value>
  /** Writes down the payloads that came, where they are recorded. */
  record(file: string): void
  /** The screen of the newest window. */
  screen(): Promise<string>
  close(): Promise<void>
}

export async function openWorld(
  root: string,
  client: WakeClient,
  { program, records }: { readonly program: string; readonly records: boolean },
): Promise<World> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), `parley-wake-${client.name}-`)))
  const folder = join(home, 'work')
  mkdirSync(folder)
  await run('git', ['init', '-q', folder])
  const [hub, model] = [await openHub(root), await startModel()]
  await hub.start()
  const recorder = records ? await startRecorder(hub.url) : undefined
  const server = recorder?.url ?? hub.url
  const place = { home, folder, model: model.url, recorder: recorder?.url }
  for (const [file, text] of Object.entries(client.files(place))) {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  const path = `${dirname(program)}:${dirname(process.execPath)}:${process.env.PATH ?? ''}`
  const env = {
    PATH: path,
    HOME: home,
    SHELL: '/bin/bash',
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    ...client.env(place),
  }
  const sockets: string[] = []
  const terminals: Terminal[] = []
  return {
    home,
    folder,
    hub,
    model,
    async init(...args) {
      const command = [join(root, 'bin/parley.js'), 'init', client.name, '--yes', '--server', server, ...args]
      const { stdout } = await run(process.execPath, command, { cwd: folder, env })
      return stdout
    },
    parley(name, ...args) {
      const command = [join(root, 'bin/parley.js'), name ?? '', '--server', server, ...args]
      return spawn(process.execPath, command, { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] })
    },
    async open({ env: more = {}, args = [] } = {}) {
      const socket = `parley-wake-${process.pid}-${sockets.length}`
      sockets.push(socket)
      const command = [program, ...client.args, ...args]
      const terminal = await openTerminal({ socket, command, env: { ...env, ...more }, cwd: folder })
      terminals.push(terminal)
      await pastQuestions(terminal, client)
      return terminal
    },
    async during(terminal, work) {
      let over = false
      const done = work.finally(() => {
        over = true
      })
      // Handled by the caller, below.
      done.catch(() => {})
      while (!over) {
        await answerQuestion(terminal, client)
        await sleep(300)
      }
      return done
    },
    record: (file) =>
      recorder?.write(file, {
        [folder]: '/a/user/work',
        [home]: '/a/user',
        [folder.replaceAll('/', '-')]: '-a-user-work',
      }),
    screen: async () => (await terminals.at(-1)?.screen()) ?? '',
    async close() {
      for (const terminal of terminals) await terminal.close()
      for (const { pid } of processesOf(home)) kill(pid, 'SIGKILL')
      model.close()
      recorder?.close()
      await hub.close()
      await sleep(200)
      rmSync(home, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** OpenCode fetches packages at its first start, and a busy machine takes its time. */
const startSeconds = 150

async function pastQuestions(terminal: Terminal, client: WakeClient): Promise<void> {
  const { ready, name } = client
  for (;;) {
    await terminal.until(
      (screen) => ready.test(screen) || asked(screen, client) !== undefined,
      `the window of ${name}`,
      startSeconds,
    )
    if (!(await answerQuestion(terminal, client))) return
  }
}

const asked = (screen: string, { questions }: WakeClient) => questions.find(({ asks }) => asks.test(screen))

/** Whether there was one. */
async function answerQuestion(terminal: Terminal, client: WakeClient): Promise<boolean> {
  const question = asked(await terminal.screen(), client)
  if (question === undefined) return false
  await sleep(500)
  for (const key of question.keys) {
    await terminal.keys(key)
    await sleep(300)
  }
  await sleep(1000)
  return true
}
