/** The protocol's own suite against the engine, with as many of its fixtures as a door of ours can offer. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { baseline, requiredBy } from '../../../scripts/conformance/baseline.ts'
import { runConformance, unrequired } from '../../../scripts/conformance.ts'
import { hastyClock } from './engine.ts'
import { startFixture } from './fixture.ts'
import { suiteDoor } from './suite-door.ts'

describe.each(Object.entries(baseline))('protocol %s', (revision, reasons) => {
  test('every required scenario passes or stands in the baseline, and none stands there that passes', async () => {
    const fixture = await startFixture({ clock: hastyClock, door: suiteDoor })
    onTestFinished(fixture.close)
    const { telling } = await requiredBy(revision)
    const outcomes = await runConformance(fixture.url, revision, [...telling, ...(unrequired[revision] ?? [])])
    const failed = outcomes.filter((outcome) => outcome.failed.length > 0)
    expect(failed.filter(({ scenario }) => !(scenario in reasons))).toEqual([])
    expect(failed.map(({ scenario }) => scenario).sort()).toEqual(Object.keys(reasons).sort())
  })
})
