/** Which commits of the archive agents are told of, and what a missing `git` costs. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { archived, repositoryOf } from '../support/archive.ts'
import { parleyProcess } from '../support/cli.ts'
import { type Message, newDesk } from '../support/mail.ts'
import {
  bareEnv,
  mailbox,
  runParley,
  shareServer,
  spawnParley,
  startParley,
  temporaryFolder,
} from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

interface Commit {
  sha: string
  ts: string
  summary: string
  author?: string
}

describe('Commits', () => {
  const server = shareServer({ env: archived })

  verifies(
    ['mail.mailbox.commits', 'mail.whois.commits', 'mail.archive.blind-commits'],
    'are shown with received mail and in whois, but none because of a blind copy',
    async () => {
      const desk = await newDesk(server())
      const { project: project_key, door } = desk
      const { slug } = await door.call<{ slug: string }>('ensure_project', { human_key: project_key })
      const repository = repositoryOf(server().storage, slug)
      const sent = await desk.send({ bcc: ['RedStone'], subject: 'Secret guest' })
      const shas = async (agent: string) =>
        (await desk.resource<{ messages: (Message & { commit: string | null })[] }>(`mailbox/${agent}`)).messages.map(
          ({ commit }) => commit,
        )
      await expect.poll(() => shas('BlueLake'), { timeout: 20_000 }).toEqual([expect.stringMatching(/^[0-9a-f]{40}$/)])
      const [sha = ''] = await shas('BlueLake')
      await expect
        .poll(() => repository.git('log', '-1', '--format=%H', '--', 'messages').catch(() => ''))
        .toBe(`${sha}\n`)
      const full = await desk.resource<{ messages: { id: number; commit: Commit | null }[] }>(
        'mailbox-with-commits/BlueLake',
      )
      expect(full.messages).toMatchObject([
        {
          id: sent.message_id,
          commit: {
            sha,
            ts: `${sent.created_ts.slice(0, 19)}.000Z`,
            summary: 'mail: GreenCastle -> BlueLake | Secret guest',
            author: 'mcp-agent <mcp-agent@example.com>',
          },
        },
      ])
      expect(await shas('RedStone')).toEqual([null])
      expect(
        (await desk.resource<{ messages: { commit: null }[] }>('mailbox-with-commits/RedStone')).messages,
      ).toMatchObject([{ commit: null }])

      await door.call('file_reservation_paths', { project_key, agent_name: 'GreenCastle', paths: ['src/**'] })
      const recent = async (agent_name: string, commit_limit = 10) =>
        (
          await door.call<{ recent_commits: Commit[] }>('whois', {
            project_key,
            agent_name,
            include_recent_commits: true,
            commit_limit,
          })
        ).recent_commits
      await expect
        .poll(async () => (await recent('GreenCastle')).map(({ summary }) => summary.split(':')[0]).sort(), {
          timeout: 20_000,
        })
        .toEqual(['agent', 'lease', 'mail'])
      expect(await recent('GreenCastle', 1)).toHaveLength(1)
      for (const commit of await recent('GreenCastle')) expect(Object.keys(commit)).toEqual(['sha', 'ts', 'summary'])
      expect((await recent('BlueLake')).map(({ sha }) => sha)).toContain(sha)
      expect((await recent('RedStone')).map(({ summary }) => summary)).toEqual(['agent: RedStone (test, none)'])
      expect(await door.call('whois', { project_key, agent_name: 'BlueLake' })).not.toHaveProperty('recent_commits')
    },
    60_000,
  )

  verifies(
    'mail.archive.no-git',
    'are none where git is missing: mail works, and one warning says what to install',
    async () => {
      const env = { ...archived, PATH: await temporaryFolder() }
      const parley = await startParley({ env })
      await parley.printed(/git was not found/)
      await mailbox(parley, 'ann').send('bob', 'still here')
      expect(await mailbox(parley, 'bob').check()).toMatchObject({ content: 'still here' })
      expect(parley.output.stderr.match(/git was not found/g)).toHaveLength(1)
      const rebuilt = await parleyProcess(parley, ['archive', 'rebuild'], { env })
      expect(rebuilt).toMatchObject({ code: 1, stderr: expect.stringContaining('Install git') })
      expect(await parley.end()).toBe(0)
    },
  )

  verifies('mail.archive.serve-only', 'are made by parley serve, and by no parley bus', async () => {
    const storage = await temporaryFolder()
    const { child, gone } = spawnParley(['bus'], bareEnv(storage, archived))
    child.stdin.end(
      `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'topic_create', arguments: { name: 'plan' } } })}\n`,
    )
    expect(await gone).toBe(0)
    expect(existsSync(join(storage, 'projects'))).toBe(false)
    expect((await runParley(['archive', '--help'], bareEnv(storage))).stdout).toContain('rebuild')
  })
})
