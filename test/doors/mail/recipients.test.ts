/** How many a message may go to at the mail door. */
import { expect } from 'vitest'
import { newDesk } from '../../support/mail.ts'
import { shareServer } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

const parley = shareServer()

const names = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => `Agent${from + n}`)

verifies('mail.send.most', 'more than a hundred recipients in all are refused, and nothing is sent', async () => {
  const desk = await newDesk(parley())
  const error = {
    code: 'INVALID_ARGUMENT',
    message: expect.stringContaining('"to" must have at most 100 names together with cc and bcc; there are 101'),
  }
  const to = ['BlueLake', ...names(0, 39)]
  await expect(desk.send({ to, cc: names(40, 70), bcc: names(70, 101) })).rejects.toMatchObject(error)
  expect(await desk.inbox('BlueLake')).toEqual([])
  const sent = await desk.send({ to, cc: names(40, 70), bcc: names(70, 100) })
  expect(sent.count).toBe(100)
  await expect(desk.reply(sent.message_id, 'BlueLake', { cc: names(0, 100) })).rejects.toMatchObject(error)
  expect((await desk.reply(sent.message_id, 'BlueLake', { cc: names(0, 99) })).count).toBe(100)
})
