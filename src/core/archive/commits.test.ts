/** Which commits a caller is told of: those about mail that it may see. */
import { expect } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { as, openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import type { ArchiveView } from '../../archive/view.ts'
import { agentCaller, local, operator } from '../access/callers.ts'
import { createKey } from '../agents/keys.ts'
import { send } from '../messages/send.ts'
import { listRecentCommits } from './commits.ts'

/** Everything has a commit: its noun and number. */
const archive: ArchiveView = {
  find: (_slug, noun, ids) => new Map(ids.map((id) => [id, `${noun} ${id}`])),
  describe: async (_slug, shas) =>
    shas.map((sha) => ({ sha, at: Number(sha.split(' ')[1]), summary: sha, author: '' })),
}

eachEngine('Recent commits', (open) => {
  verifies(
    ['mail.whois.commits', 'mail.archive.blind-commits'],
    'hide the mail between owners of keys from others, and blind copies from all',
    async () => {
      const hub = await openTestHub(await (await open()).connect(), { archive })
      const write = (from: string, to: string, bcc?: string) =>
        send(hub, as(from), {
          to: [{ name: to }, ...(bcc === undefined ? [] : [{ name: bcc, kind: 'bcc' as const }])],
          body: 'words',
        })
      const first = await write('ann', 'bob', 'eve')
      const keys = await createKey(hub, as('ann'))
      await createKey(hub, { ...as('bob'), caller: operator })
      const later = await send(hub, { ...as('ann'), caller: operator }, { to: [{ name: 'cid' }], body: 'words' })
      const mail = async (caller: Parameters<typeof listRecentCommits>[1], name: string) =>
        (await listRecentCommits(hub, caller, 'commons', { name, limit: 10 }))
          .map(({ sha }) => sha)
          .filter((sha) => sha.startsWith('messages'))
      const both = [`messages ${later.messageId}`, `messages ${first.messageId}`]
      expect(await mail(operator, 'ann')).toEqual(both)
      expect(await mail(agentCaller(keys.agent), 'ann')).toEqual(both)
      expect(await mail(local, 'ann')).toEqual(both.slice(0, 1))
      expect(await mail(local, 'bob')).toEqual([])
      expect(await mail(operator, 'eve')).toEqual([])
      await hub.close()
    },
  )
})
