/** Answers that cannot be handed over: the message they carried stays in the mailbox. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect } from 'vitest'
import { mailbox, type Parley, shareParley, waitingCalls } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const parley = shareParley()

/** A bare socket that asks for mail: nothing but the test decides when it closes. */
function ask({ port }: Parley, agent: string, args: Record<string, unknown>): Promise<Socket> {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'check_mail', arguments: args },
  })
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('error', reject)
    socket.once('connect', () =>
      socket.write(
        `POST /agents/${agent}/mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        () => resolve(socket),
      ),
    )
  })
}

verifies('mailbox.pop.put-back', 'A socket that is destroyed while check_mail waits loses nothing', async () => {
  const alice = mailbox(parley(), 'alice')
  const sockets = await Promise.all(Array.from({ length: 20 }, () => ask(parley(), 'waiter', { wait_seconds: 30 })))
  await expect.poll(() => waitingCalls(parley())).toBe(20)
  for (const socket of sockets) socket.destroy()
  for (let n = 0; n < 20; n++) await alice.send('waiter', `number ${n}`)
  const waiter = mailbox(parley(), 'waiter')
  for (let n = 0; n < 20; n++) expect(await waiter.check({ wait_seconds: 1 })).toMatchObject({ content: `number ${n}` })
  expect(await waiter.check()).toBeNull()
})

verifies('mailbox.pop.put-back', 'A client that hangs up right after its request takes nothing with it', async () => {
  const alice = mailbox(parley(), 'alice')
  for (let n = 0; n < 30; n++) {
    await alice.send('hasty', `number ${n}`)
    // Stopped meanwhile, the server finds the request and its end together. Else it may answer before the end, and that mail is read.
    parley().child.kill('SIGSTOP')
    const socket = await ask(parley(), 'hasty', {})
    await once(socket.destroy(), 'close')
    parley().child.kill('SIGCONT')
  }
  // The last pop may still be on its way back to the head when others are taken: none is lost, and that is the promise.
  const hasty = mailbox(parley(), 'hasty')
  const seen = []
  for (let mail = await hasty.check({ wait_seconds: 1 }); mail !== null; mail = await hasty.check({ wait_seconds: 1 }))
    seen.push(mail.content)
  expect(seen.sort()).toEqual(Array.from({ length: 30 }, (_, n) => `number ${n}`).sort())
})

verifies('mailbox.pop.put-back', 'What one lost client held goes to the next one who waits', async () => {
  const lost = await ask(parley(), 'relay', { wait_seconds: 30 })
  await expect.poll(() => waitingCalls(parley())).toBe(1)
  const next = mailbox(parley(), 'relay').check({ wait_seconds: 30 })
  await expect.poll(() => waitingCalls(parley())).toBe(2)
  const sending = mailbox(parley(), 'alice').send('relay', 'baton')
  lost.destroy()
  await sending
  expect(await next).toMatchObject({ content: 'baton' })
})
