/** The protocol's own suite against the engine, with the fixtures that it asks for. */
import { describe, expect, onTestFinished } from 'vitest'
import { baseline, scenariosOf } from '../../../scripts/conformance/baseline.ts'
import { hasPassed, runConformance } from '../../../scripts/conformance.ts'
import { verifies } from '../../support/verifies.ts'
import { hastyClock } from './engine.ts'
import { startFixture } from './fixture.ts'
import { suiteDoor } from './suite-door.ts'

describe.each(Object.entries(baseline))('protocol %s', (revision, reasons) => {
  verifies(
    'all.mcp.conformance',
    'every required scenario passes, and the baseline names the others that do not',
    async () => {
      const fixture = await startFixture({ clock: hastyClock, door: suiteDoor, tasks: true })
      onTestFinished(fixture.close)
      const { required, others } = await scenariosOf(revision)
      expect(required.filter((scenario) => scenario in reasons)).toEqual([])
      const outcomes = await runConformance(fixture.url, revision, [...required, ...others])
      const failed = outcomes.filter((outcome) => !hasPassed(outcome))
      expect(failed.filter(({ scenario }) => !(scenario in reasons))).toEqual([])
      expect(failed.map(({ scenario }) => scenario).sort()).toEqual(Object.keys(reasons).sort())
    },
  )
})
