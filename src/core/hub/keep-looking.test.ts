/** The loop of work in the background: each look is held open until the test says how it ended. */
import { expect, onTestFinished, test } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { openTestHub } from '../../../test/support/hub.ts'
import { readableLog } from '../../../test/support/logged.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { inside } from './hub.ts'
import { keepLooking, type LoopOptions, type Next, type Occasion } from './keep-looking.ts'

eachEngine('A loop', (open) => {
  const start = async (options: Partial<LoopOptions> = {}) => {
    const clock = new TestClock()
    const { log, lines } = readableLog()
    const hub = await openTestHub(await (await open()).connect(), { clock, log })
    const idle = clock.pending
    const looks: { occasion: Occasion; ends: PromiseWithResolvers<Next> }[] = []
    const loop = keepLooking(hub, {
      channels: 'mail:',
      gatherMs: 100,
      backOff: { firstMs: 50, longestMs: 150, wakesShorten: false },
      failure: 'it could not be seen; it is tried again',
      about: { what: 'test' },
      look(occasion) {
        const ends = Promise.withResolvers<Next>()
        looks.push({ occasion, ends })
        return ends.promise
      },
      ...options,
    })
    onTestFinished(() => {
      for (const { ends } of looks) ends.resolve('rest')
      return loop.stop()
    })
    /** Ends the look in hand; what follows from that has happened then. */
    const end = async (next: Next | Error) => {
      const { ends } = looks.at(-1) ?? { ends: Promise.withResolvers<Next>() }
      if (next instanceof Error) ends.reject(next)
      else ends.resolve(next)
      await new Promise(setImmediate)
    }
    const { wakes } = hub[inside]
    const timers = () => clock.pending - idle
    return { clock, loop, looks, end, wakes, timers, lines }
  }

  verifies('feed.loop.one', 'gathers wakes from the first on, and listens to its own channels', async () => {
    const { clock, looks, wakes } = await start()
    wakes.wake(['feed'])
    clock.advance(100)
    expect(looks).toHaveLength(0)
    wakes.wake(['mail:1'])
    clock.advance(60)
    wakes.wake(['mail:2'])
    clock.advance(39)
    expect(looks).toHaveLength(0)
    clock.advance(1)
    expect(looks).toHaveLength(1)
    expect(looks[0]?.occasion).toMatchObject({ woken: true, missed: false })
  })

  verifies('feed.loop.one', 'looks once at a time, and again for a wake that comes during a look', async () => {
    const { clock, looks, wakes, end } = await start({ firstMs: 0 })
    clock.advance(0)
    expect(looks[0]?.occasion.woken).toBe(false)
    wakes.wake(['mail:1'])
    expect(looks[0]?.occasion.isWoken()).toBe(true)
    clock.advance(1000)
    expect(looks).toHaveLength(1)
    await end('rest')
    clock.advance(99)
    expect(looks).toHaveLength(1)
    clock.advance(1)
    expect(looks).toHaveLength(2)
    expect(looks[1]?.occasion.woken).toBe(true)
    await end('rest')
    clock.advance(86_400_000)
    expect(looks).toHaveLength(2)
  })

  test('looks at once for a wake that it need not gather, but not before its looks are apart', async () => {
    const { clock, looks, loop, end } = await start({ gatherMs: 0, apartMs: 20 })
    loop.wake()
    expect(looks).toHaveLength(1)
    loop.wake()
    await end('rest')
    clock.advance(19)
    expect(looks).toHaveLength(1)
    clock.advance(1)
    expect(looks).toHaveLength(2)
    await end('rest')
    clock.advance(1000)
    loop.wake()
    expect(looks).toHaveLength(3)
  })

  test('looks anyway after its longest rest, or when the last look said, and earlier for a wake', async () => {
    const { clock, looks, wakes, end } = await start({ firstMs: 10, anywayMs: 5000 })
    clock.advance(10)
    await end('rest')
    clock.advance(4999)
    expect(looks).toHaveLength(1)
    clock.advance(1)
    await end({ inMs: 3000 })
    clock.advance(2999)
    expect(looks).toHaveLength(2)
    clock.advance(1)
    await end({ inMs: 3000 })
    wakes.wake(['mail:1'])
    clock.advance(100)
    expect(looks).toHaveLength(4)
    await end({ inMs: 30 })
    wakes.wake(['mail:1'])
    clock.advance(30)
    expect(looks).toHaveLength(5)
  })

  test('is told when wakes may have been lost', async () => {
    const { clock, looks, wakes, end } = await start()
    wakes.wakeAll()
    clock.advance(100)
    expect(looks[0]?.occasion).toMatchObject({ woken: true, missed: true })
    await end({ inMs: 1 })
    clock.advance(1)
    expect(looks[1]?.occasion).toMatchObject({ woken: false, missed: false })
  })

  verifies('feed.loop.one', 'backs off for longer each time until it can go on, and logs what failed', async () => {
    const { clock, looks, wakes, end, lines } = await start({ firstMs: 0 })
    const pauses: number[] = []
    const look = async (next: Next | Error) => {
      const [before, from] = [looks.length, clock.monotonic()]
      while (looks.length === before) clock.advance(10)
      pauses.push(clock.monotonic() - from)
      await end(next)
    }
    clock.advance(0)
    await end('blocked')
    wakes.wake(['mail:1'])
    await look(new Error('away'))
    await look('blocked')
    await look('rest')
    wakes.wake(['mail:1'])
    await look('blocked')
    await look('rest')
    expect(pauses).toEqual([50, 100, 150, 100, 50])
    const warned = lines.filter(({ level }) => level === 40)
    expect(warned).toMatchObject([{ msg: 'it could not be seen; it is tried again', what: 'test' }])
  })

  test('ends a pause for a wake only where it is said to', async () => {
    const { clock, looks, loop, end } = await start({
      gatherMs: 0,
      backOff: { firstMs: 1000, longestMs: 1000, wakesShorten: true },
    })
    loop.wake()
    await end('blocked')
    loop.wake()
    expect(looks).toHaveLength(2)
    loop.wake()
    await end('blocked')
    expect(looks).toHaveLength(3)
    await end('blocked')
    clock.advance(1000)
    expect(looks).toHaveLength(4)
  })

  verifies('feed.loop.one', 'ends after the look in hand, with no timer left, and logs no failure then', async () => {
    const { clock, loop, looks, end, wakes, timers, lines } = await start({ firstMs: 0, anywayMs: 5000 })
    clock.advance(0)
    wakes.wake(['mail:1'])
    let stopped = false
    const stopping = loop.stop().then(() => {
      stopped = true
    })
    await new Promise(setImmediate)
    expect([stopped, looks[0]?.occasion.signal.aborted]).toEqual([false, true])
    await end(new Error('cut off'))
    await stopping
    wakes.wake(['mail:1'])
    loop.wake()
    clock.advance(86_400_000)
    expect([looks.length, timers(), lines.filter(({ level }) => level === 40)]).toEqual([1, 0, []])
  })

  test('ends by itself when it is over', async () => {
    const { loop, looks, end, timers } = await start({ gatherMs: 0, anywayMs: 5000 })
    loop.wake()
    loop.wake()
    await end('over')
    loop.wake()
    expect([looks.length, timers()]).toEqual([1, 0])
    await loop.stop()
  })
})
