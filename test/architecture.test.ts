/** The dependency rule and the rules of style, held against every file, and against made-up ones to see that they can fail. */
import { describe, expect, test } from 'vitest'
import { importedFiles, rooms, violations } from './support/layers.ts'
import { repositoryFiles, type Source } from './support/sources.ts'
import * as style from './support/style.ts'

const files = repositoryFiles()
const source = files.filter(({ path }) => /^src\/.*(?<!\.test)\.ts$/.test(path))
const code = files.filter(({ path }) => /^(src|test|bin|scripts|bench|examples)\/.*\.[jt]s$/.test(path))

const importing = (path: string, ...specifiers: string[]): Source => ({
  path,
  text: specifiers.map((specifier) => `import { x } from '${specifier}'`).join('\n'),
})

describe('The layers', () => {
  test('import downwards only', () => {
    expect(source.length).toBeGreaterThan(10)
    expect(violations(source)).toEqual([])
  })

  test('are all on the page about the architecture, the rooms of core in their order', () => {
    const page = files.find(({ path }) => path === 'ARCHITECTURE.md')?.text ?? ''
    const namesIn = (table = '') =>
      [...table.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell = '']) =>
        [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name.replace(/^src\/|\/\*?$/g, '')),
      )
    const [layers, roomsOfCore] = page.split('| room of core |').map(namesIn)
    expect(roomsOfCore).toEqual(rooms)
    const foldersOf = (pattern: RegExp) => new Set(source.flatMap(({ path }) => pattern.exec(path)?.[1] ?? []))
    expect(foldersOf(/^src\/core\/([^/]+)\//)).toEqual(new Set(rooms))
    expect([...foldersOf(/^src\/([^/]+)\//)].filter((folder) => !layers?.includes(folder))).toEqual([])
  })

  test('name only files that exist, on the pages for those who change it', () => {
    const paths = files.map(({ path }) => `/${path}`)
    const named = files
      .filter(({ path }) => ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'docs/internals/decisions.md'].includes(path))
      .flatMap(({ path, text }) =>
        [...text.matchAll(/`([\w./-]+\.(?:[jt]s|json))`/g)].map(([, name]) => `${path}: ${name}`),
      )
    expect(named.length).toBeGreaterThan(50)
    expect(named.filter((one) => !paths.some((path) => path.endsWith(`/${one.split(': ')[1]}`)))).toEqual([])
  })

  test.each([
    ['src/base/ids.ts', '../db/port.ts', 'upward'],
    ['src/db/open.ts', '../store/agents.ts', 'upward'],
    ['src/store/agents/agents.ts', '../../core/agents/agents.ts', 'upward'],
    ['src/store/agents/agents.ts', '../../archive/git.ts', 'sideways'],
    ['src/archive/git.ts', '../store/agents/agents.ts', 'sideways'],
    ['src/core/hub/wait.ts', '../../doors/mcp/table.ts', 'upward'],
    ['src/core/hub/wait.ts', '../../settings/read.ts', 'the settings'],
    ['src/core/hub/hub.ts', '../agents/agents.ts', 'a later room'],
    ['src/core/messages/send.ts', '../contact-requests/requests.ts', 'a later room'],
    ['src/core/agents/agents.ts', '../stray.ts', 'what stands in no room'],
    ['src/core/stray.ts', './hub/hub.ts', 'from no room'],
    ['src/doors/mail/door.ts', '../../store/agents.ts', 'past core'],
    ['src/doors/mcp/protocol/call.ts', '../../../db/port.ts', 'past core'],
    ['src/doors/mail/door.ts', '../bus/door.ts', 'another door'],
    ['src/doors/mailbox-client/door.ts', '../../core/messages/send.ts', 'the hub from a client'],
    ['src/doors/mailbox-client/door.ts', '../post/door.ts', 'another door'],
    ['src/doors/http/app.ts', '../mail/door.ts', 'a door from what doors share'],
    ['src/doors/words/fields.ts', '../mail/door.ts', 'a door from what doors share'],
    ['src/app/serve.ts', '../main.ts', 'main'],
    ['src/settings/read.ts', '../app/serve.ts', 'upward'],
    ['src/globs/globs.ts', '../fulltext/words.ts', 'sideways'],
  ])('refuse %s importing %s: %s', (path, specifier) => {
    expect(violations([importing(path, specifier)])).toHaveLength(1)
  })

  test.each([
    ['src/app/serve.ts', ['../settings/read.ts', '../doors/mail/door.ts', '../db/open.ts', '../base/log.ts']],
    [
      'src/doors/mail/tools/leases.ts',
      ['../shapes.ts', '../../mcp/table.ts', '../../words/fields.ts', '../../../core/hub/hub.ts'],
    ],
    ['src/doors/http/app.ts', ['../mcp/protocol/engine.ts', '../../base/errors.ts']],
    ['src/core/hub/commit.ts', ['../../store/changes.ts', '../../archive/git.ts', '../../db/port.ts', './wait.ts']],
    ['src/core/contact-requests/requests.ts', ['../messages/send.ts', '../contacts/standing.ts', '../hub/commit.ts']],
    ['src/store/agents/agents.ts', ['../db/port.ts', '../base/names.ts', './projects.ts']],
  ])('let %s import %j', (path, specifiers) => {
    expect(violations([importing(path, ...specifiers)])).toEqual([])
  })

  test('are seen in every form of import', () => {
    const text = `
      import './a.ts'
      import type { T } from './b.ts'
      import {
        x,
        type Y,
      } from './c.ts'
      export { z } from './d.ts'
      export * from "./e.ts"
      const f = await import('./f.ts')
      const g: import('./g.ts').G = f
      new Worker(new URL('./h.ts', import.meta.url))
      // import { old } from './not.ts'
      import { readFile } from 'node:fs/promises'`
    expect(importedFiles({ path: 'src/x.ts', text }).sort()).toEqual([...'abcdefgh'].map((name) => `src/${name}.ts`))
  })
})

describe('The style', () => {
  const lock = files.filter(({ path }) => path === 'package-lock.json')

  test.each([
    {
      says: 'time, chance, settings and output come from base',
      rule: style.noAmbient,
      of: source,
      bad: ['src/core/a.ts', 'Date.now()'],
    },
    {
      says: 'only the room of the hub looks inside of it',
      rule: style.opaqueHub,
      of: source,
      bad: ['src/doors/a.ts', "import { inside } from '../core/hub/hub.ts'"],
    },
    {
      says: 'only keepLooking, wait and the pump both arm a timer and listen for wakes',
      rule: style.oneLoop,
      of: source,
      bad: ['src/app/a.ts', "onWake(hub, '', wake, wake)\nhub.clock.after(100, look)"],
    },
    {
      says: 'no verb, no door and no statement asks which engine runs',
      rule: style.unaskedEngine,
      of: source,
      bad: ['src/core/a/a.ts', "if (db.dialect === 'postgres') return"],
    },
    {
      says: 'one file knows that boxes have halves',
      rule: style.hiddenHalves,
      of: source,
      bad: ['src/store/pages/a.ts', 'sql`SELECT id FROM deliveries d WHERE d.filed = 1`'],
    },
    {
      says: 'doors pass on the caller that they got',
      rule: style.passedOnCaller,
      of: source,
      bad: ['src/doors/mail/a.ts', "import { operator } from '../../core/access/callers.ts'"],
    },
    {
      says: 'only the room of access looks at the kind of a caller',
      rule: style.unaskedKind,
      of: source,
      bad: ['src/core/a/a.ts', "if (acting.caller.kind === 'agent') return"],
    },
    {
      says: 'a promise that nobody waits for has a handler',
      rule: style.noLostPromise(source),
      of: source,
      bad: ['src/a.ts', 'void open().then((client) => client.close())'],
    },
    {
      says: 'an event or a timer calls nothing that is async',
      rule: style.noAsyncListener,
      of: source,
      bad: ['src/a.ts', "socket.on('message', async (data: Buffer) => hear(data))"],
    },
    {
      says: 'nothing is exported by default',
      rule: style.noDefaultExport,
      of: source,
      bad: ['src/a.ts', 'export default 1'],
    },
    {
      says: 'a file has at most 300 lines',
      rule: style.shortFile,
      of: source,
      bad: ['src/a.ts', `${'\n'.repeat(300)}1`],
    },
    {
      says: 'a file begins with a sentence',
      rule: style.beginsWithSentence,
      of: source,
      bad: ['src/a.ts', 'const a = 1'],
    },
    {
      says: 'a comment begins with the noun that it is about',
      rule: style.namedSubject,
      of: code,
      bad: ['src/a.ts', ['/** ', 'What a send answers. */'].join('')],
    },
    { says: 'a file has a telling name', rule: style.tellingName, of: code, bad: ['test/support/helpers.ts', ''] },
    {
      says: 'no path of a machine is named',
      rule: style.noMachinePath,
      of: files,
      bad: ['a.md', ['', 'home', 'ann'].join('/')],
    },
    {
      says: 'no package registry is named',
      rule: style.noRegistryHost,
      of: files,
      bad: ['a', ['registry', 'npmjs', 'org'].join('.')],
    },
    {
      says: 'no paper outside of the repository is cited',
      rule: style.noOutsidePaper,
      of: code.filter(({ path }) => !/^test\/requirements(\.ts|\/)/.test(path)),
      bad: ['src/a.ts', `/** As ${['DECI', 'SIONS'].join('')} says. */`],
    },
    {
      says: 'a promise that a comment cites exists',
      rule: style.knownPromise,
      of: code,
      bad: ['src/a.ts', '/** First come, first served (mailbox.pop.fifo, mailbox.pop.lifo). */'],
    },
    {
      says: 'the lock file names no address',
      rule: style.lockWithoutAddress,
      of: lock,
      bad: ['', locked({ resolved: 'x' })],
    },
    {
      says: 'the lock file is complete',
      rule: style.completeLock,
      of: lock,
      bad: ['', locked({ optionalDependencies: { b: '1' } })],
    },
  ])('$says', ({ rule, of, bad: [path = '', text = ''] }) => {
    expect(rule({ path, text })).toHaveLength(1)
    expect(of).not.toEqual([])
    expect(of.flatMap(rule)).toEqual([])
  })

  test.each([
    'new Date()',
    'Math.random()',
    'process.env.HOME',
    'console.log(1)',
    'setTimeout(f, 1)',
    'globalThis.setInterval(f)',
    'setImmediate(f)',
    "import { setTimeout as pause } from 'node:timers/promises'",
    "import { clearTimeout } from 'node:timers'",
  ])('%s stands in base, the settings and main only', (text) => {
    expect(style.noAmbient({ path: 'src/app/serve.ts', text })).toHaveLength(1)
    for (const path of ['src/base/a.ts', 'src/settings/read.ts', 'src/main.ts'])
      expect(style.noAmbient({ path, text })).toEqual([])
  })

  test.each([['spec', 'a'].join('/'), ['DES', 'IGN'].join(''), ['mail', 'md'].join('.')])(
    '%s is a paper outside',
    (text) => {
      expect(style.noOutsidePaper({ path: 'src/a.ts', text: `// See ${text}.` })).toHaveLength(1)
    },
  )

  test.each([
    ['src/core/hub/keep-looking.ts', 'onWake(hub, prefix, wake, lost)\nclock.after(ms, begin)', true],
    ['src/core/hub/wait.ts', 'wakes.on(channel, wake)\nclock.after(ms, resolve)', true],
    ['src/core/access/keys.ts', "onWake(hub, 'key:', forget, forget) // and no clock.after(1, f)", true],
    ['src/core/agents/activity.ts', 'hub.clock.after(1000, write)', true],
    ['src/core/a.ts', "wakes.onEvery('', wake, wake)\nawait pause(100)", false],
    ['src/core/a.ts', "onWake(hub, '', wake, wake)\nevery(100, look)", false],
  ])('a loop made by hand is seen: %s, %j (%s)', (path, text, fine) => {
    expect(style.oneLoop({ path, text })).toHaveLength(fine ? 0 : 1)
  })

  test('a file in brackets is no promise, nor is what the code calls', () => {
    const text = '/** Also of another process (db/sqlite/busy.ts, busy.ts; all.names.case). */\nhub(clock.now)'
    expect(style.knownPromise({ path: 'src/a.ts', text })).toEqual([])
  })

  const never = { path: 'src/b.ts', text: '/** Never rejects. */\nexport async function look(hub: Hub) {}' }
  test.each([
    ['void open().catch(() => {})', true],
    ['void open()\n  .catch(failed)\n  .finally(rest)', true],
    ['void open().then(done, (error) => failed(error, 1))', true],
    ['const begin = (): void => void look(hub)', true],
    ['after(ms, () => void this.#look())', false],
    ['void open()', false],
    ['void look(hub).then(goOn)', false],
    ['void open().catch(failed).then(goOn)', false],
    ['void open().finally(() => go(1, 2))', false],
    ['void open()\n  .then(([a, b]) => go(a, b))\n  .finally(rest)', false],
    ['void (async () => go())()', false],
    ['void connected?.then((current) => {\n  go(current, 1)\n})', false],
    ['tell: (text: string) => void\n  look(hub: Hub): Promise<void>', true],
  ])('a promise is seen to: %s (%s)', (text, fine) => {
    expect(style.noLostPromise([never])({ path: 'src/a.ts', text })).toHaveLength(fine ? 0 : 1)
  })

  test.each([
    ["switch (caller.kind) { case 'agent': }", false],
    ['const f = ({ kind }: Caller) => kind', false],
    ['const { kind } = known.caller', false],
    ['const f = (who: Caller) => who.kind', false],
    ["if ('agentId' in caller) return", false],
    ["function f(caller: Extract<Caller, { kind: 'agent' }>) {}", false],
    ["type Own = Caller & { kind: 'agent' }", false],
    ["export const f = ({ kind }: Target, caller: Caller) => kind === 'agent'", true],
    ['const { agentId } = agentOf(caller) ?? nobody', true],
    ['const own = agentOf(caller)?.agentId', true],
  ])('the kind of a caller is asked for in core/access: %s (%s)', (text, fine) => {
    expect(style.unaskedKind({ path: 'src/doors/a.ts', text })).toHaveLength(fine ? 0 : 1)
    expect(style.unaskedKind({ path: 'src/core/access/a.ts', text })).toEqual([])
  })

  test('a comment may name what the code must not do', () => {
    expect(
      style.noAmbient({ path: 'src/core/a.ts', text: '/** Not Date.now(). */\nconst a = 1 // nor console.log' }),
    ).toEqual([])
  })
})

function locked(entry: object): string {
  return JSON.stringify({ packages: { 'node_modules/a': entry } })
}
