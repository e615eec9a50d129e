/** `parley init` on a corpus of settings files, for every client and both scopes. */
import { isDeepStrictEqual } from 'node:util'
import { parse } from 'jsonc-parser'
import { describe, expect } from 'vitest'
import type { Scope } from '../../src/client-settings/client.ts'
import { clientNames, clientOf } from '../../src/client-settings/clients.ts'
import { newUser, settingsTexts } from '../support/init.ts'
import { verifies } from '../support/verifies.ts'

type User = Awaited<ReturnType<typeof newUser>>

/** The settings file of a client, in each scope that it has. */
const sites = ({ home, repository }: User) =>
  clientNames.flatMap((name) => {
    const client = clientOf(name)
    const places = { home, folder: repository, env: {}, platform: process.platform }
    const scopes: Scope[] = client.here === undefined ? ['user'] : ['user', 'here']
    return scopes.map((scope) => {
      const site = scope === 'user' ? client.user(places) : client.here?.(places)
      if (site === undefined) throw new Error(name)
      return { name, scope, ...site }
    })
  })

/** All texts for three clients in one scope, and some for each of the others: a run of all takes half a minute. */
const textsFor = ({ name, scope, format }: ReturnType<typeof sites>[number], { broken = false } = {}) =>
  settingsTexts(format, { broken }).filter(
    (_, index) =>
      (scope === 'user' && ['claude', 'codex', 'opencode'].includes(name)) ||
      index % 5 === (clientNames.indexOf(name) + scope.length) % 5,
  )

const bomless = (text: string) => text.replace(/^\ufeff/, '')
const contentOf = (text: string) => parse(bomless(text) || '{}', [], { allowTrailingComma: true }) ?? {}
/** Lists with the items that were there before alone: hooks and permissions of ours come to them. */
function withoutAdded(now: unknown, old: unknown): unknown {
  if (Array.isArray(now) && Array.isArray(old))
    return now.filter((one) => old.some((before) => isDeepStrictEqual(one, before)))
  if (typeof now !== 'object' || now === null || typeof old !== 'object' || old === null) return now
  const values = old as Record<string, unknown>
  return Object.fromEntries(Object.entries(now).map(([key, value]) => [key, withoutAdded(value, values[key])]))
}
const comments = (text: string) => text.match(/\/\/ [^\n\r]*|\/\*[\s\S]*?\*\//g) ?? []
const words = (text: string) => comments(text).filter((word) => !word.includes('example.com'))

/** Whether a text has all characters of another in their order: nothing was taken away, nothing moved. White space does not count. */
function isWithin(old: string, now: string): boolean {
  let at = -1
  return [...old.replace(/\s/g, '')].every((sign) => {
    at = now.indexOf(sign, at + 1)
    return at >= 0
  })
}

describe('On every text of the corpus, for every client and scope', () => {
  verifies(
    ['cli.init.dry-run', 'cli.init.twice', 'cli.init.uninstall', 'cli.init.text', 'cli.init.backup'],
    'a dry run changes nothing, twice is once, only our lines are added, and uninstall gives the same bytes',
    async () => {
      const user = await newUser()
      for (const site of sites(user))
        for (const { name: text, bytes } of textsFor(site)) {
          const { name, scope, file, format } = site
          const at = `${name} ${scope} ${text}`
          user.put(file, bytes, 0o640)
          const before = user.files()
          const dry = await user.run([name, `--${scope}`, '--dry-run', '--allow'])
          expect(dry, at).toMatchObject({ code: 0, stdout: expect.stringMatching(/^--- .*\n\+\+\+ .*\n@@ /) })
          expect(user.files(), at).toEqual(before)

          expect(await user.init(name, `--${scope}`, '--allow'), at).toMatchObject({ code: 0 })
          const after = user.files()
          const [old, now] = [bytes.toString(), user.read(file)]
          expect(now, at).toContain('8765/mcp')
          if (format === 'json') {
            expect(withoutAdded(contentOf(now), contentOf(old)), at).toMatchObject(contentOf(old))
            expect(words(now), at).toEqual(words(old))
          }
          expect(isWithin(old, now), at).toBe(true)
          expect(now.startsWith('\ufeff'), at).toBe(old.startsWith('\ufeff'))
          if (old.includes('\r\n')) expect(now.replaceAll('\r\n', ''), at).not.toContain('\n')
          expect(after[file.slice(user.home.length + 1)], at).toMatch(/^640 /)
          expect(user.read(`${file}.parley-backup`), at).toBe(old)

          expect(await user.init(name, `--${scope}`, '--allow'), at).toMatchObject({ code: 0 })
          expect(user.files(), at).toEqual(after)
          expect(await user.init(name, `--${scope}`, '--uninstall'), at).toMatchObject({ code: 0 })
          expect(user.files(), at).toEqual(before)
        }
    },
    60_000,
  )

  verifies('cli.init.between', "a person's edit stays, through another init and through uninstall", async () => {
    const user = await newUser()
    for (const site of sites(user))
      for (const { name: text, bytes } of textsFor(site)) {
        const { name, scope, file, format } = site
        const at = `${name} ${scope} ${text}`
        user.put(file, bytes)
        await user.init(name, `--${scope}`)
        const edited =
          format === 'json'
            ? user.read(file).replace('{', '{ /* by hand */ "mine": [1, 2],')
            : `${user.read(file)}\n[mine]\nlist = [1, 2] # by hand\n`
        user.put(file, edited)
        expect(await user.init(name, `--${scope}`), at).toMatchObject({ code: 0 })
        expect(user.read(file), at).toBe(edited)
        expect(await user.init(name, `--${scope}`, '--agent', 'bob'), at).toMatchObject({ code: 0 })
        expect(user.read(file), at).toContain('by hand')
        expect(await user.init('--uninstall', `--${scope}`), at).toMatchObject({ code: 0 })
        const left = user.read(file)
        expect(left, at).toContain('by hand')
        expect(left, at).not.toMatch(/parley|8765/)
        if (format === 'json') expect(contentOf(left), at).toEqual({ mine: [1, 2], ...contentOf(bytes.toString()) })
        else expect(left, at).toContain(bomless(bytes.toString()).trimEnd())
      }
  })

  verifies('cli.init.left', 'what cannot be read is left alone, with the reason and exit code 1', async () => {
    const user = await newUser()
    for (const site of sites(user))
      for (const { name: text, bytes } of textsFor(site, { broken: true })) {
        const { name, scope, file } = site
        user.put(file, bytes)
        const done = await user.init(name, `--${scope}`)
        expect(done, `${name} ${text}`).toMatchObject({ code: 1 })
        expect(done.stdout).toContain(`left    ${file}: `)
        expect(user.read(file)).toBe(bytes.toString())
        await user.init('--uninstall', `--${scope}`)
      }
  })
})
