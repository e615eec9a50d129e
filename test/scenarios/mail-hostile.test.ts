/** Hostile text at the mail door: what would break out of a query, a line of the log, or an object. */
import { describe, expect } from 'vitest'
import { newProject, plainMail, type Receipt } from '../support/mail.ts'
import { mailbox, shareServer, startParley } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'
import { ask } from '../support/wire.ts'

const parley = shareServer()
const door = () => plainMail(parley())

type Json = Record<string, unknown>

interface Hit {
  id: number
  snippet: string
}

async function desk(...names: string[]) {
  const project_key = newProject()
  for (const name of names) await door().call('register_agent', { project_key, program: 'test', model: 'none', name })
  return {
    project_key,
    send: (more: Json = {}) =>
      door().call<Receipt>('send_message', {
        project_key,
        sender_name: 'GreenCastle',
        to: ['BlueLake'],
        subject: 'Plan',
        body_md: 'hello',
        ...more,
      }),
    search: (query: string) => door().call<Hit[]>('search_messages', { project_key, query, limit: 100 }),
  }
}

describe('A search query', () => {
  const secret = 'basilisk'
  const hostile = [
    `${secret} OR 1=1`,
    `'; DROP TABLE messages; --`,
    `' UNION SELECT body FROM messages --`,
    `") OR ("a" = "a`,
    `subject:${secret}`,
    `body:${secret}`,
    `from:GreenCastle`,
    `from:Green*`,
    `thread:TKT-1') OR project_id > 0 --`,
    `NEAR(${secret} wakes, 5)`,
    `${secret} NEAR/2 wakes`,
    `{subject body} : ${secret}`,
    `- subject : ${secret}`,
    `^${secret}`,
    `${secret} + wakes`,
    `scope:project1`,
    `project1`,
    `rowid:1 OR message_id:1`,
    `${secret}:* & wakes <-> x | !y`,
    `*`,
    `**`,
    `a*`,
    `"`,
    `"unbalanced`,
    `""`,
    `(((`,
    `)))`,
    `AND`,
    `OR OR OR`,
    `NOT`,
    `NOT ${secret}`,
    `NOT NOT ${secret}`,
    `zzz OR NOT ${secret}`,
    `subject:`,
    `subject:subject:subject:`,
    `:::`,
    '\\',
    '%',
    '_',
    '\u0000',
    `zz\u0000${secret}`,
    '\ud800',
    '\r\n\u001b[2J',
    '\u202e\u200b\ufeff',
    '🦊'.repeat(2000),
    '('.repeat(20_000),
    `${'a OR '.repeat(5_000)}${secret}`,
    `"${'word '.repeat(20_000)}"`,
    `${'NOT '.repeat(10_000)}${secret}`,
    'x'.repeat(200_000),
  ]

  verifies(['mail.attack.query'], 'never raises, never reaches another project, never takes long', async () => {
    const ours = await desk('GreenCastle', 'BlueLake')
    const theirs = await desk('GreenCastle', 'BlueLake')
    await theirs.send({ body_md: `the ${secret} wakes`, subject: `About the ${secret}`, thread_id: 'TKT-1' })
    const { message_id } = await ours.send({ body_md: 'an ordinary message', thread_id: 'TKT-1' })
    expect(await theirs.search(secret)).toHaveLength(1)
    for (const query of hostile) {
      const began = performance.now()
      const hits = await ours
        .search(query)
        .catch((error: unknown) => Promise.reject({ query: query.slice(0, 80), error }))
      expect(performance.now() - began, query.slice(0, 80)).toBeLessThan(5_000)
      expect(
        hits.filter(({ id }) => id !== message_id),
        query.slice(0, 80),
      ).toEqual([])
    }
    expect(await ours.search('ordinary')).toMatchObject([{ id: message_id }])
  })

  verifies('mail.attack.query', 'finds what it would break out of as the text that it is', async () => {
    const ours = await desk('GreenCastle', 'BlueLake')
    const texts = [
      `Robert'); DROP TABLE students;--`,
      'col:value NEAR(a b, 3)',
      'src/api/users.ts',
      'auth-service',
      'a "quoted" word',
      '50% off_season',
    ]
    for (const text of texts) {
      const { message_id } = await ours.send({ body_md: text })
      expect(
        (await ours.search(text)).map(({ id }) => id),
        text,
      ).toContain(message_id)
    }
  })
})

describe('A line of the log', () => {
  const forged = '{"level":60,"msg":"forged"}'
  const evil = `x\r\n${forged}\n\u001b[2J\u001b[31mred\u2028\u0085${forged}`
  /** Characters that control a terminal or end a line. */
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are looked for
  const control = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/

  /** Puts it wherever something can be put, refused or not. */
  async function attack({ url, port }: { url: string; port: number }): Promise<void> {
    const project_key = newProject()
    const { call, read } = plainMail({ url })
    const ignore = () => undefined
    for (const name of ['GreenCastle', 'BlueLake']) await call('register_agent', { project_key, name })
    const message = { project_key, sender_name: 'GreenCastle', to: ['BlueLake'], subject: 'x', body_md: evil }
    await call('send_message', message)
    const attempts: [string, Json][] = [
      ['ensure_project', { human_key: evil }],
      ['register_agent', { project_key, name: evil, program: evil, model: evil, task_description: evil }],
      ['register_agent', { project_key, task_description: `x\n${forged}` }],
      ['send_message', { ...message, subject: evil }],
      ['send_message', { ...message, thread_id: evil }],
      ['send_message', { ...message, to: [evil] }],
      ['send_message', { ...message, sender_name: evil }],
      ['send_message', { ...message, importance: evil }],
      ['send_message', { ...message, [evil]: evil }],
      ['search_messages', { project_key, query: evil }],
      ['search_messages', { project_key: evil, query: 'x' }],
      ['summarize_thread', { project_key, thread_id: 'x', llm_model: evil }],
      ['file_reservation_paths', { project_key, agent_name: 'GreenCastle', paths: [evil], reason: evil }],
      ['file_reservation_paths', { project_key, agent_name: 'GreenCastle', paths: ['src/**'], reason: evil }],
      ['request_contact', { project_key, from_agent: 'GreenCastle', to_agent: 'BlueLake', reason: evil }],
      ['whois', { project_key, agent_name: evil }],
      [evil, {}],
    ]
    for (const [tool, args] of attempts) await call(tool, args).catch(ignore)
    await read(`resource://thread/${encodeURIComponent(evil)}?project=${project_key}`).catch(ignore)
    await read(`resource://inbox/${evil}?project=${project_key}`).catch(ignore)
    await read(`resource://tooling/recent/60?agent=${evil}&project=${evil}`).catch(ignore)
    const headers = { 'Content-Type': 'application/json', 'User-Agent': 'x{"level":60,"msg":"forged"}' }
    const encoded = encodeURIComponent(evil)
    for (const path of [`/mcp?tools=${encoded}`, `/mcp/${encoded}`, `/agents/${encoded}/mcp`, `/${encoded}`])
      await ask({ port }, { method: 'POST', path, headers, body: '{}' })
    for (const method of ['tools/call', evil])
      for (const id of [evil, 1]) {
        const body = JSON.stringify({
          jsonrpc: '2.0',
          id,
          method,
          params: { name: evil, _meta: { progressToken: evil } },
        })
        await ask({ port }, { method: 'POST', path: '/mcp', headers, body })
      }
    await ask({ port }, { method: 'POST', path: '/mcp', headers, body: `{"broken": ${evil}` })
    const clientInfo = { name: evil, version: evil }
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
    const hello = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
    await ask({ port }, { method: 'POST', path: '/mcp', headers: { ...headers, Accept: '*/*' }, body: hello })
  }

  verifies('mail.attack.log', 'is one JSON object, whatever was sent', async () => {
    const server = await startParley({ env: { LOG_LEVEL: 'trace', LOG_JSON_ENABLED: 'true' } })
    await attack(server)
    expect(await server.end()).toBe(0)
    // The start's own words stand on stdout or beside the log.
    const plain = server.output.stdout.split('\n')
    const lines = server.output.stderr.split('\n').filter((line) => line !== '')
    const objects = [...plain, ...lines].filter((line) => line.startsWith('{'))
    expect(objects.length).toBeGreaterThan(20)
    const read = objects.map((line) => JSON.parse(line) as { level: number; msg: string; time: number; pid: number })
    expect(read.filter(({ pid, time }) => pid === undefined || time === undefined)).toEqual([])
    expect(read.filter(({ msg }) => msg === 'forged')).toEqual([])
    for (const line of [...plain, ...lines]) expect(line).not.toMatch(control)
    const others = [...plain, ...lines].filter((line) => !line.startsWith('{'))
    expect(others.filter((line) => line.includes('forged') || line.includes('[31m'))).toEqual([])
  })
})

describe('Names that objects have of their own', () => {
  const names = ['constructor', 'toString', 'hasOwnProperty', 'valueOf', '__proto__', '__defineGetter__', 'prototype']

  verifies('mail.attack.json', 'are names of agents, threads and projects like others', async () => {
    const { project_key, send } = await desk('GreenCastle', 'BlueLake')
    for (const thread_id of names) {
      const { message_id } = await send({ thread_id, client_message_id: thread_id })
      const uri = `resource://thread/${thread_id}?project=${project_key}`
      expect(await door().read(uri)).toMatchObject({ thread_id, messages: [{ id: message_id }] })
    }
    const digest = await door().call<{ threads: Json[] }>('summarize_threads', { project_key, thread_ids: names })
    expect(digest.threads.map(({ thread_id, error }) => [thread_id, error])).toEqual(names.map((n) => [n, undefined]))
    for (const name of names) {
      const human_key = `/srv/${name}`
      expect(await door().call('ensure_project', { human_key })).toMatchObject({ human_key })
    }
    for (const name of names.filter((name) => !name.startsWith('_'))) {
      await mailbox(parley(), 'someone').send(name, `for ${name}`)
      expect(await door().call('fetch_inbox', { project_key: 'commons', agent_name: name })).toHaveLength(1)
      expect(await door().read(`resource://inbox/${name}?project=commons`)).toMatchObject({ agent: name, count: 1 })
    }
  })

  verifies('mail.attack.json', 'are no tools, arguments or parameters', async () => {
    const { project_key } = await desk('GreenCastle')
    for (const name of names) {
      await expect(door().call(name, {}), name).rejects.toThrow(/-32602|-32601/)
      // As text: an object literal would set the prototype instead.
      const args = `{"project_key":${JSON.stringify(project_key)},"agent_name":"GreenCastle","${name}":{"limit":1}}`
      const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fetch_inbox","arguments":${args}}}`
      const headers = { 'Content-Type': 'application/json' }
      const { status, text } = await ask(parley(), { method: 'POST', path: '/mcp', headers, body })
      expect([name, status, text]).toEqual([name, expect.any(Number), expect.stringMatching(/INVALID_ARGUMENT|-32700/)])
      await expect(door().read(`resource://inbox/GreenCastle?project=${project_key}&${name}=1`)).rejects.toBeDefined()
      await expect(door().read(`resource://${name}`)).rejects.toBeDefined()
    }
    expect(({} as Json).limit).toBeUndefined()
  })
})
