/** The shell blocks of a Markdown page, and a shell that runs them one after the other, as a reader would. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support/sources.ts'

export interface Block {
  readonly text: string
  /** Why no test can run it, from the comment `<!-- not run: … -->` before it. */
  readonly notRun?: string | undefined
}

export const pageText = (page: string): string => readFileSync(join(root, page), 'utf8')

export const shellBlocks = (markdown: string): Block[] =>
  [...markdown.matchAll(/(?:<!-- not run: (.+?) -->\n)?^```sh\n(.*?)^```$/gms)].map(([, notRun, text = '']) => ({
    text,
    notRun,
  }))

export interface Shell {
  /** Everything that was printed so far. */
  readonly printed: () => string
  /** Folder and variables stay from block to block; rejects at the first command that fails. */
  run(text: string): Promise<void>
  close(): Promise<void>
}

export function openShell(cwd: string, env: Record<string, string>): Shell {
  const bash = spawn('bash', { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] })
  let printed = ''
  let told = () => {}
  const gone = new Promise<void>((resolve) => bash.once('close', () => resolve()))
  bash.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
    told()
  })
  // After a command that failed it reads no more.
  bash.stdin.on('error', () => {})
  bash.stdin.write('exec 2>&1; set -e\n')
  let blocks = 0
  return {
    printed: () => printed,
    async run(text) {
      const end = `--- end of block ${++blocks} ---\n`
      const done = new Promise<void>((resolve) => {
        told = () => printed.endsWith(end) && resolve()
      })
      // Without the rest of the script on its stdin, which a command might read.
      bash.stdin.write(`eval ${quoted(text)} < /dev/null\nprintf %s ${quoted(end)}\n`)
      await Promise.race([done, gone])
      if (!printed.endsWith(end)) throw new Error(`A command failed in:\n${text}\nPrinted so far:\n${printed}`)
      printed = printed.slice(0, -end.length)
    },
    async close() {
      bash.stdin.end()
      await gone
    },
  }
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
