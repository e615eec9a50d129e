/** The public surface: docs/surface.json is what this tree offers, and a change of it says which version it needs. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { changesOf, nextVersion, reaches, stepOf } from '../../scripts/surface/compare.ts'
import { type AnyDoor, doorSurface, type Surface, surfaceOf } from '../../scripts/surface/statements.ts'
import { currentSurface } from '../../scripts/surface/surface.ts'
import { root } from '../support/sources.ts'
import { verifies } from '../support/verifies.ts'

verifies(
  'release.surface.kept',
  'nothing public changes without docs/surface.json, which says what it is',
  async () => {
    const kept = JSON.parse(readFileSync(join(root, 'docs', 'surface.json'), 'utf8')) as Surface & { version: string }
    const changes = changesOf(kept, await currentSurface())
    const next = nextVersion(kept.version, stepOf(changes))
    // The author of a change that is meant runs `npm run docs`, and writes a line of CHANGELOG.md.
    expect(changes, `these changes make it ${next}; npm run docs takes them`).toEqual([])
    const lines = kept.offers.join('\n')
    for (const known of [
      'tool mail send_message takes to[]: string',
      'resource mail resource://projects',
      'prompt mail start',
      'path GET /health/readiness',
      'command parley serve takes --port <number>',
      'setting HTTP_PORT, 8765 unless set',
      'error DB_BUSY: busy',
      'exit misused: 2',
      'metric parley_commits_total: counter',
      'table messages.id',
    ])
      expect(lines).toContain(known)
  },
)

const doorWith = (fields: Record<string, z.ZodType>, answer = z.object({ id: z.string() })): AnyDoor =>
  ({
    name: 'mail',
    title: 'Mail',
    instructions: '',
    resources: [],
    tools: [{ name: 'send', input: z.object(fields), output: answer }],
  }) as unknown as AnyDoor

const plain = doorWith({ to: z.string() })
const said = (before: AnyDoor, now: AnyDoor) =>
  changesOf(doorSurface(before), doorSurface(now)).map(({ step, says }) => `${step}: ${says}`)

verifies('release.surface.step', 'what breaks a caller is told from what only adds', () => {
  expect(said(plain, plain)).toEqual([])
  expect(said(plain, doorWith({ to: z.string(), cc: z.string().optional() }))).toEqual([
    'minor: new: tool mail send takes cc: string',
  ])
  expect(said(plain, doorWith({ to: z.string(), cc: z.string() }))).toEqual([
    'major: newly asked for: tool mail send needs cc',
    'minor: new: tool mail send takes cc: string',
  ])
  expect(said(plain, doorWith({ to: z.string().optional() }))).toEqual([
    'minor: asked for no more: tool mail send needs to',
  ])
  expect(said(plain, doorWith({ to: z.union([z.string(), z.int()]) }))).toEqual([
    'minor: new: tool mail send takes to: integer',
  ])
  expect(said(plain, doorWith({ to: z.int() }))).toEqual([
    'major: gone: tool mail send takes to: string',
    'minor: new: tool mail send takes to: integer',
  ])
  const nested = z.object({ id: z.string(), reach: z.array(z.object({ state: z.enum(['here', 'away']) })) })
  expect(said(doorWith({ to: z.string() }, nested), plain)).toContain(
    'major: gone: tool mail send answers reach[].state: "away"',
  )
  const empty = { ...plain, tools: [] }
  expect(stepOf(changesOf(doorSurface(empty), doorSurface(plain)))).toBe('minor')
  expect(stepOf(changesOf(doorSurface(plain), doorSurface(empty)))).toBe('major')
  expect(surfaceOf(doorSurface(plain), doorSurface(plain))).toEqual(doorSurface(plain))
})

test.each([
  ['1.2.3', 'patch', '1.2.4'],
  ['1.2.3', 'minor', '1.3.0'],
  ['1.2.3', 'major', '2.0.0'],
  ['0.1.0', 'patch', '0.1.1'],
  ['0.1.0', 'minor', '0.1.1'],
  ['0.1.0', 'major', '0.2.0'],
] as const)('after %s a %s step makes %s, and no less will do', (version, step, next) => {
  expect(nextVersion(version, step)).toBe(next)
  expect([reaches(next, next), reaches('10.0.0', next), reaches(version, next)]).toEqual([true, true, false])
})
