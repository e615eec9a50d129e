/** The hooks that init writes for each client: what tells it of mail at its turns, and what wakes it when it is idle. */
import { join } from 'node:path'
import type { Places, Scope, Site } from './client.ts'
import { commandLine, type Hooking, hookUrl, turnCommand } from './hook-lines.ts'
import { pluginBlock } from './opencode-plugin.ts'
import type { Edit, Format, Json } from './shapes.ts'

/** The edits of one file. */
export interface HookFile {
  readonly file: string
  readonly format: Format
  readonly edits: readonly Edit[]
}

/** One more item in the list of an event, beside those of others. */
const hook = (client: string, event: string, hooks: readonly Json[]): Edit => ({
  kind: 'item',
  path: ['hooks', event],
  value: { hooks },
  marks: [`/hooks/${client}/`, ` hook ${client} `, ` attach ${client} `, ` wait --for ${client} `],
})

/** A session may last a day; the waiter ends with its client. */
const daySeconds = 86_400

export function claudeHooks(file: string, hooking: Hooking): HookFile {
  const command = (event: string) => ({ type: 'command', command: turnCommand('claude', event, hooking), timeout: 2 })
  // Without a process: 57 ms of a turn, against 65 for curl. It has no place for a key, nor for a name that comes from the environment.
  const asHttp = hooking.agent !== undefined && hooking.keyFile === undefined && !hooking.needsKey
  const turn = (event: string): Json =>
    asHttp ? { type: 'http', url: hookUrl('claude', event, hooking), timeout: 1 } : command(event)
  const waiter: Json = {
    type: 'command',
    command: commandLine(['wait', '--for', 'claude'], hooking),
    asyncRewake: true,
    timeout: daySeconds,
  }
  return {
    file,
    format: 'json',
    edits: [
      // Its http hooks are not called at the start of a session.
      hook('claude', 'SessionStart', [command('SessionStart'), waiter]),
      hook('claude', 'UserPromptSubmit', [turn('UserPromptSubmit')]),
      hook('claude', 'PostToolUse', [turn('PostToolUse')]),
      hook('claude', 'Stop', [waiter]),
      hook('claude', 'SessionEnd', [command('SessionEnd')]),
    ],
  }
}

/** Beside the servers of the same file; the start of a session puts the waiter into the background. */
export function codexHooks({ file, format }: Site, hooking: Hooking): HookFile {
  const command = (line: string, timeout: number): Json => ({ type: 'command', command: line, timeout })
  const turn = (event: string): Edit => hook('codex', event, [command(turnCommand('codex', event, hooking), 2)])
  const attach = command(commandLine(['attach', 'codex'], hooking), 5)
  return {
    file,
    format,
    // The end of a turn is told too: a pointer for a busy session is held until then.
    edits: [hook('codex', 'SessionStart', [attach]), turn('UserPromptSubmit'), turn('PostToolUse'), turn('Stop')],
  }
}

/** Its times are milliseconds. */
export function geminiHooks({ file, format }: Site, hooking: Hooking): HookFile {
  const command = (line: string, timeout: number): Json => ({ type: 'command', name: 'parley', command: line, timeout })
  const turn = (event: string): Edit => hook('gemini', event, [command(turnCommand('gemini', event, hooking), 2000)])
  const attach = command(commandLine(['attach', 'gemini'], hooking), 5000)
  const held = command(commandLine(['wait', '--for', 'gemini'], hooking), daySeconds * 1000)
  return {
    file,
    format,
    edits: [
      hook('gemini', 'SessionStart', [
        hooking.hold ? command(turnCommand('gemini', 'SessionStart', hooking), 2000) : attach,
      ]),
      turn('BeforeAgent'),
      turn('AfterTool'),
      hooking.hold ? hook('gemini', 'AfterAgent', [held]) : turn('AfterAgent'),
      turn('SessionEnd'),
    ],
  }
}

export const opencodeHooks = (folder: string, hooking: Hooking): HookFile => ({
  file: join(folder, 'plugin', 'parley.js'),
  format: 'script',
  edits: [{ kind: 'block', name: 'plugin', lines: pluginBlock(hooking) }],
})

export type HooksOf = (places: Places, scope: Scope, hooking: Hooking) => HookFile
