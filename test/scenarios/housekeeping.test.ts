/** Two servers on one database share their housekeeping; when one is killed, the other goes on with it. */
import { expect } from 'vitest'
import { eachEngine } from '../support/engines.ts'
import { plainMail } from '../support/mail.ts'
import { type Parley, startParley, temporaryFolder } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

eachEngine('The housekeeping of two servers', (open) => {
  verifies(
    ['mail.chore.taken-over', 'mail.chore.one-process', 'mail.ack.overdue-once'],
    'each overdue acknowledgement is told by one of them, also after the other was killed',
    async () => {
      const { url } = await open()
      const env = {
        DATABASE_URL: url,
        ACK_TTL_ENABLED: 'true',
        ACK_TTL_SECONDS: '1',
        ACK_TTL_SCAN_INTERVAL_SECONDS: '1',
        ACK_ESCALATION_ENABLED: 'true',
        ACK_ESCALATION_MODE: 'file_reservation',
        ACK_ESCALATION_CLAIM_HOLDER_NAME: 'ops',
      }
      const storage = await temporaryFolder()
      const servers = await Promise.all([startParley({ storage, env }), startParley({ storage, env })])
      const project = '/srv/code/backend'
      const ask = async (server: Parley, subject: string) => {
        const mail = plainMail(server)
        await mail.call('register_agent', { project_key: project, name: 'GreenCastle' })
        await mail.call('send_message', {
          project_key: project,
          sender_name: 'GreenCastle',
          to: ['BlueLake'],
          subject,
          body_md: 'Please confirm.',
          ack_required: true,
        })
      }
      const told = (server: Parley, subject: string) =>
        server.output.stderr
          .split('\n')
          .filter((line) => line.includes('"ack_overdue"') && line.includes(`"${subject}"`))
      const tellers = (subject: string) => servers.filter((server) => told(server, subject).length > 0)

      for (const server of servers) await ask(server, `to ${server.port}`)
      for (const { port } of servers) await expect.poll(() => tellers(`to ${port}`).length, { timeout: 15_000 }).toBe(1)
      const [killed] = tellers(`to ${servers[0].port}`)
      await killed?.end('SIGKILL')
      const survivor = servers.find((server) => server !== killed) as Parley
      await ask(survivor, 'after the kill')
      // Also if it died in the middle of a run: the survivor sees that its process is gone.
      await expect.poll(() => told(survivor, 'after the kill').length, { timeout: 15_000 }).toBe(1)
      for (const subject of [...servers.map(({ port }) => `to ${port}`), 'after the kill'])
        expect(servers.flatMap((server) => told(server, subject))).toHaveLength(1)
      expect(await survivor.end()).toBe(0)
    },
    60_000,
  )
})
