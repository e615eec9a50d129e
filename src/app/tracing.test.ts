/** The samplers that OpenTelemetry's settings name. */
import { expect, it } from 'vitest'
import { randomHex } from '../base/span.ts'
import { samplerOf } from './tracing.ts'

const ids = Array.from({ length: 4000 }, () => randomHex(16))
const parent = (sampled: boolean) => ({ traceId: ids[0] ?? '', spanId: randomHex(8), sampled })

function sampler(name: string, share = 1) {
  const isSampled = samplerOf({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: `${share}` })
  const ofAll = (sampled?: boolean) =>
    ids.filter((id) => isSampled(id, sampled === undefined ? undefined : parent(sampled))).length / ids.length
  return { alone: ofAll(), sampledParent: ofAll(true), leftOutParent: ofAll(false) }
}

it('always, never, or a share, whatever a parent says', () => {
  expect(sampler('always_on')).toEqual({ alone: 1, sampledParent: 1, leftOutParent: 1 })
  expect(sampler('always_off')).toEqual({ alone: 0, sampledParent: 0, leftOutParent: 0 })
  const { alone, sampledParent, leftOutParent } = sampler('traceidratio', 0.25)
  expect(alone).toBeGreaterThan(0.2)
  expect(alone).toBeLessThan(0.3)
  expect([sampledParent, leftOutParent]).toEqual([alone, alone])
})

it('as its parent, where there is one', () => {
  expect(sampler('parentbased_always_on')).toEqual({ alone: 1, sampledParent: 1, leftOutParent: 0 })
  expect(sampler('parentbased_always_off')).toEqual({ alone: 0, sampledParent: 1, leftOutParent: 0 })
  expect(sampler('parentbased_traceidratio', 0)).toEqual({ alone: 0, sampledParent: 1, leftOutParent: 0 })
})

it('a share of all is all', () => {
  expect(sampler('traceidratio', 1).alone).toBe(1)
})
