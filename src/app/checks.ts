/** `parley lint` and `parley typecheck`: the checks of a checkout, for those who change Parley. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { HubError } from '../base/errors.ts'

const checkout = fileURLToPath(new URL('../../', import.meta.url))

/** As the scripts of package.json call them. */
const programs = {
  lint: ['node_modules/@biomejs/biome/bin/biome', 'check'],
  typecheck: ['node_modules/typescript/bin/tsc', '-p', '.', '--noEmit'],
} as const

/** Throws if it finds something; its own words are written as they come. */
export async function runCheck(
  name: keyof typeof programs,
  write: (text: string) => Promise<void>,
  root = checkout,
): Promise<void> {
  const [program, ...args] = programs[name]
  if (!existsSync(join(root, 'src')) || !existsSync(join(root, program)))
    throw new HubError('NOT_FOUND', `\`parley ${name}\` is for a checkout of Parley with its development packages.`, {
      hint: 'Clone the repository and run `npm ci` in it.',
    })
  const child = spawn(process.execPath, [join(root, program), ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve))
  const passOn = async (stream: NodeJS.ReadableStream) => {
    for await (const text of stream.setEncoding('utf8')) await write(text as string)
  }
  await Promise.all([passOn(child.stdout), passOn(child.stderr)])
  if ((await ended) === 0) return
  throw new HubError('INVALID_ARGUMENT', `${name} found a problem.`, { hint: 'Its output is above.' })
}
