/** A key is rotated or revoked: every stream that was opened with it ends, and those of other keys go on. */
import { expect } from 'vitest'
import { printedBy } from '../support/cli.ts'
import { inSession, listenEvents, openEvents, sessionEvents } from '../support/events.ts'
import { hubDoorOf } from '../support/hub-door.ts'
import { eachPost, register } from '../support/post.ts'
import { socketOf } from '../support/sockets.ts'
import { verifies } from '../support/verifies.ts'
import { openSession } from '../support/wire.ts'

eachPost('A key that ends', (parley, _, databaseUrl) => {
  /** One of each kind; returns whether each has ended. */
  const streamsOf = async ({ key, name }: { key: string; name: string }) => {
    const headers = { 'x-api-key': key }
    const { endpoint } = hubDoorOf(parley(), undefined, { headers })
    const own = `apm2://agents/${name}`
    const token = await openSession(endpoint, headers)
    await inSession(endpoint, token, 'resources/subscribe', { uri: own }, headers)
    const streams = [
      await sessionEvents(endpoint, token, undefined, headers),
      await listenEvents(endpoint, [own], headers),
      await openEvents(`${parley().url}/mail/events`, { method: 'GET', headers }),
    ]
    expect(streams.map(({ status }) => status)).toEqual([200, 200, 200])
    const { socket } = await socketOf(parley(), { key })
    return () => [...streams.map((stream) => stream.ended()), socket.readyState === socket.CLOSED]
  }

  verifies('all.keys.streams', 'ends the streams that it opened, and no others', async () => {
    const [agent, other] = [await register(parley(), 'alice'), await register(parley(), 'bob')]
    const command = (...args: string[]) =>
      printedBy(parley(), ['keys', ...args], { env: { DATABASE_URL: databaseUrl() } })
    const [mine, theirs] = [await streamsOf(agent), await streamsOf(other)]
    const key = (await command('rotate', agent.name)).trim()
    await expect.poll(mine, { timeout: 5000 }).toEqual([true, true, true, true])
    const anew = await streamsOf({ key, name: agent.name })
    await command('revoke', agent.name)
    await expect.poll(anew, { timeout: 5000 }).toEqual([true, true, true, true])
    expect(theirs()).toEqual([false, false, false, false])
  })
})
