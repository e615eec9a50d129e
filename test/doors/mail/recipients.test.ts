/** Whom a message goes to at the mail door: how many, newcomers, and nobody. */
import { describe, expect } from 'vitest'
import { countRows } from '../../support/counting.ts'
import { connectMail, newDesk, newProject } from '../../support/mail.ts'
import { eras, shareServer } from '../../support/parley.ts'
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

describe.each(eras)('In %s', (era) => {
  verifies('mail.recipient.told', 'who was made by a send is told, with the nearest names', async () => {
    const desk = await newDesk(parley(), await connectMail(parley(), era))
    const sent = await desk.send({ to: ['BlueLak', 'RedStone'], cc: ['WhiteOwl'] })
    const reach = { state: 'never', text: 'has never been here' }
    expect(sent.deliveries).toEqual([
      { recipient: 'BlueLak', project: expect.any(String), kind: 'to', created: true, reach },
      { recipient: 'RedStone', project: expect.any(String), kind: 'to', reach: expect.any(Object) },
      { recipient: 'WhiteOwl', project: expect.any(String), kind: 'cc', created: true, reach },
    ])
    expect(sent).toHaveProperty(
      'note',
      'Nobody was called BlueLak: the message waits for an agent that registers under this name. If you meant BlueLake, send it again to that name. Nobody was called WhiteOwl: the message waits for an agent that registers under this name.',
    )
    // A name that nobody answers to is offered to nobody.
    const again = await desk.send({ to: ['BlueLak'] })
    expect(again.deliveries).toEqual([
      { recipient: 'BlueLak', project: expect.any(String), kind: 'to', reach: expect.objectContaining({ behind: 1 }) },
    ])
    expect(await desk.send({ to: ['BlueLaky'] })).toHaveProperty(
      'note',
      expect.stringMatching(/If you meant BlueLake, send/),
    )
    const reply = await desk.reply(again.message_id, 'BlueLak', { to: ['GreenCastl'] })
    expect(reply).toMatchObject({ deliveries: [{ created: true }], note: expect.stringContaining('GreenCastle') })
  })

  verifies('mail.recipient.unseen', 'a name that nobody answers to is told with each send, and marked', async () => {
    const desk = await newDesk(parley(), await connectMail(parley(), era))
    await desk.send({ to: ['BlueLak'] })
    const note =
      'Nobody has answered to the name BlueLak yet: the message waits for an agent that registers under this name. If you meant BlueLake, send it again to that name.'
    for (let n = 0; n < 2; n++) expect(await desk.send({ to: ['RedStone', 'BlueLak'] })).toHaveProperty('note', note)
    const listed = async () => {
      const agents = await desk.door.call<{ name: string; never_active?: boolean }[]>('list_agents', {
        project_key: desk.project,
      })
      return agents.filter(({ never_active }) => never_active).map(({ name }) => name)
    }
    expect(await listed()).toEqual(['BlueLak'])
    await desk.inbox('BlueLak')
    expect(await desk.send({ to: ['BlueLak'] })).not.toHaveProperty('note')
    expect(await listed()).toEqual([])
  })

  verifies('mail.recipient.told', 'so is the agent of that name in another project', async () => {
    const desk = await newDesk(parley(), await connectMail(parley(), era))
    const other = newProject()
    const name = era === '2026-07-28' ? 'SnowyOwl' : 'TawnyOwl'
    await desk.door.call('register_agent', { project_key: other, name })
    const { slug } = await desk.door.call<{ slug: string }>('ensure_project', { human_key: other })
    expect(await desk.send({ to: [name] })).toHaveProperty(
      'note',
      expect.stringContaining(`If you meant ${name}@${slug},`),
    )
  })

  verifies('mail.recipient.broadcast', 'there is no broadcast, and the error names those to write to', async () => {
    const desk = await newDesk(parley(), await connectMail(parley(), era))
    const { message_id } = await desk.send()
    const stored = countRows(parley().storage)
    for (const name of ['all', 'Everyone', 'TEAM', 'broadcast', '*', `all@${desk.project}`])
      for (const more of [{ to: [name] }, { cc: ['RedStone', name] }, { to: name }, { to: ['NewOne'], bcc: [name] }])
        await expect(desk.send(more), name).rejects.toMatchObject({
          code: 'INVALID_ARGUMENT',
          message: expect.stringContaining('there is no broadcast'),
          hint: expect.stringMatching(
            /^Name each recipient. Active agents: (RedStone, BlueLake|BlueLake, RedStone)\. Everybody in the project is all:project; .* list_agents/,
          ),
        })
    await expect(desk.reply(message_id, 'BlueLake', { to: ['all'] })).rejects.toMatchObject({
      hint: expect.stringContaining('GreenCastle'),
    })
    expect(countRows(parley().storage)).toEqual(stored)
  })
})

describe('Where mail makes no agents', () => {
  const strict = shareServer({ env: { MESSAGING_AUTO_REGISTER_RECIPIENTS: 'false' } })

  verifies('mail.recipient.missing', 'the nearest names are told, and nobody is told to register them', async () => {
    const desk = await newDesk(strict())
    const error = await desk.send({ to: ['BlueLakes', 'RedStone'] }).catch((error: unknown) => error)
    expect(error).toEqual({
      code: 'AGENT_NOT_FOUND',
      message: 'Nothing was sent: nobody is called "BlueLakes".',
      hint: 'Did you mean BlueLake? Send to agents that exist. list_agents shows the agents of a project.',
    })
    await expect(desk.send({ to: ['WhiteOwl'] })).rejects.toMatchObject({
      hint: 'Send to agents that exist. list_agents shows the agents of a project.',
    })
  })
})

verifies('mail.agent.never', 'an agent that was only written to is not active', async () => {
  const desk = await newDesk(parley())
  await desk.send({ to: ['WhiteOwl'] })
  const list = (more = {}) =>
    desk.door.call<{ name: string; last_active_ts: string | null }[]>('list_agents', {
      project_key: desk.project,
      ...more,
    })
  expect((await list()).at(-1)).toMatchObject({ name: 'WhiteOwl', last_active_ts: null })
  expect((await list({ active_within_seconds: 60 })).map(({ name }) => name)).not.toContain('WhiteOwl')
  await desk.inbox('WhiteOwl')
  expect((await list({ active_within_seconds: 60 })).map(({ name }) => name)).toContain('WhiteOwl')
})
