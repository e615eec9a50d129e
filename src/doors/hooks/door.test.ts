/** The log of the hooks door: payloads that it does not know. */
import fastify from 'fastify'
import { pino } from 'pino'
import { expect } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { mountHooks } from './door.ts'

eachEngine('The log of the hooks', (open) => {
  verifies('waking.hooks.unknown', 'each on a day of its own', async () => {
    const lines: string[] = []
    const clock = new TestClock()
    const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line).about) })
    const hub = await openTestHub(await (await open()).connect(), { clock, log })
    const app = fastify()
    mountHooks(app, hub)
    const call = async (path: string) => {
      const { statusCode, body } = await app.inject({ method: 'POST', url: `/hooks/${path}`, payload: {} })
      expect([statusCode, body]).toEqual([200, '{}'])
    }
    for (const path of ['emacs/Stop', 'emacs/Stop', 'claude/Dream', 'emacs/Stop']) await call(path)
    expect(lines).toEqual(['event emacs Stop', 'event claude Dream'])
    clock.advance(86_400_000)
    await call('emacs/Stop')
    expect(lines).toHaveLength(3)
    await app.close()
    await hub.close()
  })
})
