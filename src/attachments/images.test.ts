/** The process that converts pictures: kept for the next one, and replaced where it fails. */
import sharp from 'sharp'
import { expect } from 'vitest'
import { TestClock } from '../../test/support/clock.ts'
import { drawing } from '../../test/support/pictures.ts'
import { verifies } from '../../test/support/verifies.ts'
import { nextTurn } from '../base/clock.ts'
import { Converter } from './images.ts'

verifies(
  'mail.attach.replaced',
  'a converter that is dead or silent is replaced, the others wait their turn',
  async () => {
    const clock = new TestClock()
    const converter = new Converter(clock)
    const png = await drawing(40, 30).png().toBuffer()
    const convert = () => converter.toWebp('flow.png', png, 'png')
    const size = async (made: Promise<Buffer>) => (await sharp(await made).metadata()).width
    expect(converter.pid).toBeUndefined()
    expect(await size(convert())).toBe(40)
    const pids = [converter.pid ?? 0]
    expect(await size(convert())).toBe(40)
    expect(converter.pid).toBe(pids[0])

    // It hangs, as in a decoder that does not come to an end.
    process.kill(pids[0] ?? 0, 'SIGSTOP')
    const [silent, behind] = [convert(), convert()]
    await nextTurn()
    clock.advance(40_000)
    await expect(silent).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('"flow.png" takes too long'),
      hint: expect.stringContaining('Nothing was sent.'),
    })
    expect(await size(behind)).toBe(40)
    pids.push(converter.pid ?? 0)
    expect(() => process.kill(pids[0] ?? 0, 0)).toThrow('ESRCH')

    // It dies with the picture that it has, as of too little memory.
    process.kill(pids[1] ?? 0, 'SIGSTOP')
    const dying = convert()
    process.kill(pids[1] ?? 0, 'SIGKILL')
    await expect(dying).rejects.toMatchObject({ message: expect.stringContaining('could not be converted (SIGKILL)') })
    expect(await size(convert())).toBe(40)
    expect(pids).not.toContain(converter.pid)
  },
)
