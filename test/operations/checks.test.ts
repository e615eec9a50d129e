/** `parley lint` and `parley typecheck`: the real checkers, on a checkout of one file. */
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { runCheck } from '../../src/app/checks.ts'
import { parleyCommand } from '../support/cli.ts'
import { temporaryFolder } from '../support/parley.ts'
import { root } from '../support/sources.ts'
import { verifies } from '../support/verifies.ts'

async function checkoutOf(text: string): Promise<string> {
  const folder = await temporaryFolder()
  await mkdir(join(folder, 'src'))
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  await writeFile(join(folder, 'src', 'a.ts'), text)
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ include: ['src'], compilerOptions: { strict: true } }),
  )
  await writeFile(
    join(folder, 'biome.json'),
    JSON.stringify({
      files: { includes: ['src/**'] },
      formatter: { enabled: false },
      linter: { rules: { suspicious: { noExplicitAny: 'error' } } },
    }),
  )
  return folder
}

for (const [name, bad, says] of [
  ['lint', 'export const a: any = 1;\n', 'noExplicitAny'],
  ['typecheck', "export const a: number = 'one'\n", 'TS2322'],
] as const)
  verifies('cli.developer.checks', `${name} passes what is right and tells what is not`, async () => {
    let told = ''
    const write = async (text: string) => {
      told += text
    }
    await runCheck(name, write, await checkoutOf('export const a = 1;\n'))
    told = ''
    await expect(runCheck(name, write, await checkoutOf(bad))).rejects.toThrow(`${name} found a problem.`)
    expect(told).toContain(says)
    await expect(runCheck(name, write, await temporaryFolder())).rejects.toThrow('is for a checkout of Parley')
    const help = await parleyCommand({ storage: 'none' }, [name, '--help'])
    expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining(`parley ${name}`) })
  })
