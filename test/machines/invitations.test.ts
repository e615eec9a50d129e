/** Invitations at the command line and over HTTP: the line to pass on, its page, and the exchange for a key. */
import { expect } from 'vitest'
import { parleyCommand, printedBy } from '../support/cli.ts'
import { mailbox, type Served, serveHere, serveLogged } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const join = (parley: Pick<Served, 'url'>, body: object) =>
  fetch(`${parley.url}/join`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

async function invited(parley: Served, ...args: string[]) {
  const line = await printedBy(parley, ['invite', ...args], { env: { HTTP_PUBLIC_URL: parley.url } })
  const [, link = '', agent = '', code = ''] =
    /^npx parley-hub join (\S+\/join\/(.+)-([0-9a-z]{25}))\n$/.exec(line) ?? []
  return { line, link, agent, code }
}

verifies(['cli.invite.line', 'access.invite.key'], 'One line is passed on, and its code becomes a key', async () => {
  const parley = await serveHere()
  await mailbox(parley, 'alice').check()
  const { link, agent, code } = await invited(parley, 'bob')
  expect(link.startsWith(`${parley.url}/join/bob-`)).toBe(true)
  const open = JSON.parse(await printedBy(parley, ['invitations', 'list', '--json']))
  expect(open.invitations).toMatchObject([{ agent: 'bob', project: 'commons', door: 'mailbox' }])
  const answer = await join(parley, { agent, code })
  expect(answer.status).toBe(201)
  const joined = (await answer.json()) as { key: string }
  expect(joined).toMatchObject({ agent: 'bob', project: 'commons', door: 'mailbox', mail_path: '/mcp' })
  const headers = { Authorization: `Bearer ${joined.key}` }
  await mailbox(parley, 'alice').send('bob', 'hello')
  expect(await mailbox(parley, 'bob', { headers }).check()).toMatchObject({ from: 'alice', content: 'hello' })
  await expect(mailbox(parley, 'alice', { headers }).check()).rejects.toMatchObject({ code: 'FORBIDDEN' })
  expect(await parleyCommand(parley, ['invite', 'bob'])).toMatchObject({ code: 1, stdout: '' })
})

verifies('cli.invite.line', 'A revoked invitation opens nothing, and --expires is read', async () => {
  const parley = await serveHere()
  await mailbox(parley, 'alice').check()
  const { agent, code } = await invited(parley, 'bob', '--expires', '30m', '--door', 'hub')
  await printedBy(parley, ['invitations', 'revoke', 'bob'])
  expect((await join(parley, { agent, code })).status).toBe(404)
  for (const time of ['0h', '31d', 'soon']) {
    const refused = await parleyCommand(parley, ['invite', 'bob', '--expires', time])
    expect(refused).toMatchObject({ code: 2, stdout: '' })
  }
  const unreachable = await parleyCommand(parley, ['invite', 'bob'])
  expect(unreachable).toMatchObject({ code: 0, stderr: expect.stringContaining('HTTP_PUBLIC_URL') })
  expect(unreachable.stderr).not.toContain('earlier link')
  const again = await parleyCommand(parley, ['invite', 'bob'])
  expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining('The earlier link for bob works no more.') })
})

verifies('access.invite.preview', 'Opened in a browser or by a link preview, the link stays good', async () => {
  const parley = await serveHere()
  await mailbox(parley, 'alice').check()
  const { link, agent, code } = await invited(parley, 'bob')
  for (const method of ['HEAD', 'GET', 'GET']) expect((await fetch(link, { method })).status).toBe(200)
  const page = await fetch(link)
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect([page.headers.get('cache-control'), page.headers.get('referrer-policy')]).toEqual(['no-store', 'no-referrer'])
  expect(await page.text()).toContain(`npx parley-hub join ${link}`)
  // The page says the same of a code that nobody made: it tells nothing about the store.
  expect((await fetch(`${parley.url}/join/bob-${'0'.repeat(25)}`)).status).toBe(200)
  expect((await fetch(`${parley.url}/join/<b>bob`)).status).toBe(404)
  expect((await join(parley, { agent, code })).status).toBe(201)
  expect((await join(parley, { agent, code })).status).toBe(404)
})

verifies('access.invite.guessed', 'Wrong codes over HTTP are counted, and told when to come back', async () => {
  const parley = await serveHere()
  await mailbox(parley, 'alice').check()
  const { agent, code } = await invited(parley, 'bob')
  for (let n = 0; n < 10; n++) expect((await join(parley, { agent, code: `${n}`.padStart(25, '0') })).status).toBe(404)
  const late = await join(parley, { agent, code })
  expect([late.status, Number(late.headers.get('retry-after')) > 0]).toEqual([429, true])
  expect((await join(parley, { agent })).status).toBe(400)
})

verifies('access.invite.hash', 'The loudest log has no code of an invitation', async () => {
  const parley = await serveLogged({ env: { LOG_LEVEL: 'trace' } })
  await mailbox(parley, 'alice').check()
  const { link, agent, code } = await invited(parley, 'bob')
  await fetch(link)
  await fetch(link.replace('/join/', '/join%2F'))
  await fetch(`${link}/more`)
  await join(parley, { agent: 'mallory', code })
  await join(parley, { agent, code })
  await parley.stop()
  expect(parley.logged()).toContain('/join')
  expect(parley.logged()).not.toContain(code)
})
