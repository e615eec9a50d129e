/** The shell blocks of README and of the pages for the first hour run as they are written, from an empty HOME. */
import { globSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { newMachine, sharePackages } from '../support/machine.ts'
import { root } from '../support/sources.ts'
import { verifies } from '../support/verifies.ts'
import { openShell, pageText, shellBlocks } from './blocks.ts'

/** The pages, and a few things that their blocks must have printed. */
const pages: Readonly<Record<string, readonly RegExp[]>> = {
  'README.md': [/is ready at http/, /\.claude\.json/, /You are bob at http/],
  'docs/start.md': [
    /"whoami":"You are BlueLake in the project /,
    /I take src\/auth\./,
    /pre-commit/,
    /Answered #\d+ with #\d+/,
    /"content":"ping"/,
    /Hello Bob!/,
  ],
  'docs/two-machines.md': [/is ready at http/, /You are alice at http/],
}

/** A test has no public name, a port of its own, and nobody who answers a question. */
const written = (text: string, port: number, printed: string): string =>
  text
    .replaceAll('https://parley.example', 'http://127.0.0.1:8765')
    .replaceAll('8765', String(port))
    .replace(/^parley init\b/gm, '$& --yes')
    .replace(/^npx parley-hub join\b/gm, '$& --yes')
    // A reader pastes the link that was printed before.
    .replace(/http\S+-…/g, (link) => {
      const start = printed.lastIndexOf(link.slice(0, -1))
      return start < 0 ? link : (printed.slice(start).split(/\s/)[0] ?? link)
    })

const packages = sharePackages()

for (const [page, prints] of Object.entries(pages))
  verifies(
    'docs.shell.runs',
    `Every block of ${page} runs in order`,
    async () => {
      const { home, env, port } = await newMachine(packages())
      // An answer that says 4xx fails the block.
      await writeFile(join(home, '.curlrc'), 'fail-with-body\n')
      const shell = openShell(home, env)
      onTestFinished(() => shell.close())
      for (const { text, notRun } of shellBlocks(pageText(page)))
        if (notRun !== undefined) process.stdout.write(`${page}, not run: ${notRun}\n${text}`)
        else await shell.run(written(text, port, shell.printed()))
      for (const pattern of prints) expect(shell.printed()).toMatch(pattern)
      expect(shell.printed()).not.toMatch(/"isError":true|"error":|^error: /m)
    },
    60_000,
  )

verifies('docs.readme.short', 'README has at most 900 words before how it is built, and four doors', () => {
  const [before = '', after] = pageText('README.md').split('\n## How it is built\n')
  expect(after).toBeDefined()
  expect(before.split(/\s+/).length).toBeLessThanOrEqual(900)
  const [, doors = ''] = /## Which door is for me\n\n((?:\|.*\n)+)/.exec(before) ?? []
  expect(doors.trimEnd().split('\n').slice(2)).toHaveLength(4)
})

verifies('docs.shell.names', 'No page starts Parley by the path of a file', () => {
  for (const page of ['README.md', 'setup_prompt.md', ...globSync('docs/*.md', { cwd: root })])
    expect(pageText(page)).not.toMatch(/node \S*(bin\/parley\.js|main\.[jt]s)/)
})
