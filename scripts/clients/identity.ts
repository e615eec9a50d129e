/** Coding agents, set up by `parley init`, call a tool without naming themselves, each in two windows under two names, and only once they are allowed to. */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Skipped } from '../../bench/peers/python.ts'
import { build } from '../build.ts'
import { agents, type CodingAgent, type Named } from './coding-agents.ts'
import { install } from './npm.ts'
import { type HubServer, openHub } from './wake/hub.ts'
import { type Model, startModel } from './wake/model.ts'
import { kill, processesOf } from './wake/processes.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const parley = join(root, 'bin/parley.js')
const order = 'CALL macro_start_session {} '
const secondsMost = 120

interface Visited {
  readonly rows: readonly string[][]
  readonly failures: readonly string[]
  readonly skips: readonly string[]
}

/** A row for each window: client, name, and whether it was who it should be in both of its calls; and one before it may call. */
export async function visitAsThemselves(only: readonly string[], say: (text: string) => void): Promise<Visited> {
  await build()
  const [rows, failures, skips]: [string[][], string[], string[]] = [[], [], []]
  for (const agent of agents.filter(({ name }) => only.length === 0 || only.includes(name)))
    try {
      const { program, version } = await install(agent.package, agent.version, agent.bin ?? agent.name, say)
      say(`windows of ${agent.name} ${version}`)
      for (const { name, failed } of await visit(agent, program)) {
        const title = `${agent.title} ${version}`
        rows.push([title, name, failed === undefined ? 'as it should be' : 'FAILED'])
        if (failed !== undefined) failures.push(`${title} as ${name}: ${failed}`)
      }
    } catch (error) {
      if (!(error instanceof Skipped)) throw error
      skips.push(error.message)
    }
  return { rows, failures, skips }
}

async function visit(agent: CodingAgent, program: string): Promise<{ name: string; failed: string | undefined }[]> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), `parley-as-${agent.name}-`)))
  const folder = join(home, 'work')
  const [hub, model] = [await openHub(root), await startModel()]
  const seen: { name: string; failed: string | undefined }[] = []
  try {
    await promisify(execFile)('git', ['init', '-q', folder])
    await hub.start()
    for (const [file, text] of Object.entries(agent.files({ home, folder, model: model.url }))) {
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
    }
    const path = [dirname(program), dirname(process.execPath), process.env.PATH].join(':')
    const env = { PATH: path, HOME: home, SHELL: '/bin/bash', LANG: 'C.UTF-8', ...agent.env(model.url) }
    const init = (...more: string[]) => {
      const settings = ['init', agent.name, '--yes', '--server', hub.url, ...agent.init(folder), ...more]
      return promisify(execFile)(process.execPath, [parley, ...settings], { cwd: folder, env })
    }
    const windowOf = ({ name, args, env: more = {} }: Named) => ({
      name,
      window: { program, args, env: { ...env, ...more }, cwd: folder },
    })
    await init()
    for (const { name, window } of [agent.asking?.(order)].flatMap((one) => (one ? [windowOf(one)] : []))) {
      const called = callOnce(window, { name, hub, model })
      const failed = await called.then(
        () => 'it called the tool without being allowed to',
        () => undefined,
      )
      seen.push({ name: `${name}, not allowed to call`, failed })
    }
    await init('--allow')
    for (const { name, window } of agent.windows(order).map(windowOf)) {
      const calls = async () => {
        for (let call = 0; call < 2; call++) await callOnce(window, { name, hub, model })
      }
      seen.push({ name, failed: await calls().then(() => undefined, reason) })
    }
  } finally {
    for (const { pid } of processesOf(home)) kill(pid, 'SIGKILL')
    model.close()
    await hub.close()
    rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
  }
  return seen
}

const reason = ({ message }: Error): string => message.trim().slice(-600)

interface Window {
  readonly program: string
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly cwd: string
}

/** The model is told the answer of the tool, and the server knows the agent in the project of the folder. */
async function callOnce(
  { program, args, ...around }: Window,
  { name, hub, model }: { name: string; hub: HubServer; model: Model },
): Promise<void> {
  const from = model.requests.length
  const printed = await new Promise<string>((resolve) => {
    const ended = (_: unknown, stdout: string, stderr: string) => resolve(`${stdout}\n${stderr}`)
    const limits = { timeout: secondsMost * 1000, maxBuffer: 1 << 25 }
    execFile(program, args, { ...around, ...limits }, ended).stdin?.end()
  })
  const answered = model.requests.slice(from).find(({ afterTool }) => afterTool)
  if (answered === undefined) {
    const [asked] = model.requests.slice(from)
    const why = asked === undefined ? 'its model was not asked' : `of ${asked.tools.length} tools none was called`
    throw new Error(`${why}; the client printed: ${printed.trim().slice(-400)}`)
  }
  const told = answered.fresh.map(({ text }) => text).join('\n')
  const [as = told.slice(0, 400)] = /You are \S+ in the project [^,]+/.exec(told) ?? []
  if (as !== `You are ${name} in the project ${around.cwd}`) throw new Error(`its tool answered: ${as}`)
  await hub.call('whois', { project_key: around.cwd, agent_name: name })
}
