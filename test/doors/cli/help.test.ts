/** The examples of `--help`: what they name can exist. */
import { expect } from 'vitest'
import { parleyCommand, printedBy } from '../../support/cli.ts'
import { plainMail } from '../../support/mail.ts'
import { shareServer } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

const parley = shareServer()

/** Every command and the commands below it, as their help lists them. */
async function helpTexts(command: readonly string[] = []): Promise<string[]> {
  const text = await printedBy(parley(), [...command, '--help'])
  const [, listed = ''] = /^Commands:\n((?: {2}.*\n)+)/m.exec(text) ?? []
  const names = [...listed.matchAll(/^ {2}([a-z][\w-]*)/gm)].map(([, name = '']) => name)
  const below = names.filter((name) => name !== 'help').map((name) => helpTexts([...command, name]))
  return [text, ...(await Promise.all(below)).flat()]
}

verifies('cli.help.projects', 'An example that names a project finds it', async () => {
  const door = plainMail(parley())
  for (const name of ['backend', 'web'])
    await door.call('register_agent', { project_key: `/srv/code/${name}`, name: 'BlueLake' })
  const examples = (await helpTexts()).flatMap((text) =>
    [...text.matchAll(/^ {2}parley (.+)$/gm)].map(([, line]) => line),
  )
  const named = new Set<string>()
  for (const line of examples) {
    const [, place] = /^(?:acks|file_reservations) \w+ (\S+)|--project (\S+)/.exec(line ?? '')?.filter(Boolean) ?? []
    if (place !== undefined) named.add(place)
  }
  expect(named.size).toBeGreaterThan(1)
  for (const place of named)
    expect(await parleyCommand(parley(), ['file_reservations', 'list', place])).toMatchObject({ code: 0, stderr: '' })
})
