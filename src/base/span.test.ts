/** Spans, and the header that names them. */
import { describe, expect, it } from 'vitest'
import { readContext, readTraceparent, Span, writeTraceparent } from './span.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const spanId = '00f067aa0ba902b7'

describe('A traceparent', () => {
  it('is read as it was written', () => {
    for (const sampled of [true, false])
      expect(readTraceparent(writeTraceparent({ traceId, spanId, sampled }))).toEqual({ traceId, spanId, sampled })
  })

  it('of a later version is read as far as this one knows it', () => {
    expect(readTraceparent(`01-${traceId}-${spanId}-03-later`)).toEqual({ traceId, spanId, sampled: true })
  })

  it('that names no span is none', () => {
    const none = [
      undefined,
      7,
      '',
      `ff-${traceId}-${spanId}-01`,
      `00-${'0'.repeat(32)}-${spanId}-01`,
      `00-${traceId}-${'0'.repeat(16)}-01`,
      `00-${traceId.toUpperCase()}-${spanId}-01`,
      `00-${traceId}-${spanId}-01-more`,
      `00-${traceId}-${spanId}`,
      ` 00-${traceId}-${spanId}-01`,
    ]
    expect(none.map(readTraceparent)).toEqual(none.map(() => undefined))
  })
})

describe('A span', () => {
  const begin = (more = {}) =>
    new Span({ name: 'step', about: { a: 1 }, traceId, sampled: true, parent: undefined, outer: undefined, ...more })

  it('ends with all that was added to it', () => {
    const outer = begin()
    const span = begin({ outer, parent: outer })
    span.note({ b: 'two' })
    span.addEvent('wait', { ms: 3 })
    span.link({ traceId, spanId, sampled: true })
    span.fail()
    const [trace, id, state, parentId, isRemote, name, serves, startMs, endMs, failed, attributes, events, links] =
      span.end()
    expect(span.isRecording).toBe(false)
    expect([trace, id, state, parentId, isRemote, name, serves, failed]).toEqual([
      traceId,
      span.spanId,
      undefined,
      outer.spanId,
      false,
      'step',
      false,
      true,
    ])
    expect(attributes).toEqual({ a: 1, b: 'two' })
    expect(events).toEqual([{ name: 'wait', ms: expect.any(Number), attributes: { ms: 3 } }])
    expect(links).toEqual([{ traceId, spanId, sampled: true }])
    expect(startMs).toBeGreaterThan(Date.now() - 60_000)
    expect(endMs).toBeGreaterThanOrEqual(startMs)
  })

  it('passes on the state of the client, and says that its parent is elsewhere', () => {
    const parent = readContext({ traceparent: `00-${traceId}-${spanId}-01`, tracestate: 'vendor=1' })
    const [, , state, parentId, isRemote] = begin({ parent }).end()
    expect([state, parentId, isRemote]).toEqual(['vendor=1', spanId, true])
  })

  it('has 128 links at most', () => {
    const span = begin()
    for (let n = 0; n < 200; n++) span.link({ traceId, spanId, sampled: true })
    expect(span.end().at(-1)).toHaveLength(128)
  })

  it('has an id of its own, and records only where its trace is sampled', () => {
    const spans = Array.from({ length: 2000 }, (_, n) => begin({ sampled: n % 2 === 0 }))
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length)
    expect(spans.every(({ spanId }) => /^[\da-f]{16}$/.test(spanId))).toBe(true)
    expect(spans.filter(({ isRecording }) => isRecording)).toHaveLength(1000)
  })
})
