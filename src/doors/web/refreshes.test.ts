/** Refreshes of open pages take turns. */
import { expect } from 'vitest'
import { verifies } from '../../../test/support/verifies.ts'
import { createRefreshes } from './refreshes.ts'

verifies('web.events.sparing', 'pages that ask again are answered one after the other', async () => {
  const inTurn = createRefreshes()
  const steps: string[] = []
  const held = Promise.withResolvers<void>()
  const here = () => false
  const first = inTurn(here, async () => {
    steps.push('first')
    await held.promise
    throw new Error('no such page')
  })
  let left = false
  const second = inTurn(
    () => left,
    async () => steps.push('second'),
  )
  const third = inTurn(here, async () => steps.push('third'))
  await expect.poll(() => steps).toEqual(['first'])
  left = true
  held.resolve()
  await expect(first).rejects.toThrow('no such page')
  expect(await second).toBe(undefined)
  await third
  expect(steps).toEqual(['first', 'third'])
})
