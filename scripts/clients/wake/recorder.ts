/** A server in front of the hub that keeps the payload of each hook: `--record` writes them into test/fixtures/clients/. */
import { writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Recorder {
  readonly url: string
  /** By event, the first payload of each; folders of this machine are given other names. */
  write(file: string, folders: Readonly<Record<string, string>>): void
  close(): void
}

export async function startRecorder(hub: string): Promise<Recorder> {
  const payloads = new Map<string, unknown>()
  const server = createServer(async (incoming, response) => {
    const parts: Buffer[] = []
    for await (const part of incoming) parts.push(part as Buffer)
    const body = Buffer.concat(parts)
    const [, event] = /^\/hooks\/\w+\/(\w+)/.exec(incoming.url ?? '') ?? []
    if (event !== undefined && !payloads.has(event)) payloads.set(event, JSON.parse(body.toString('utf8')))
    const { method, headers, url } = incoming
    const passed = request(
      new URL(url ?? '/', hub),
      { method, headers: { ...headers, host: new URL(hub).host } },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      },
    )
    passed.on('error', () => response.destroy())
    response.on('close', () => passed.destroy())
    passed.end(body)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    write(file, folders) {
      let text = JSON.stringify(Object.fromEntries(payloads), null, 2)
      for (const [path, name] of Object.entries(folders)) text = text.replaceAll(path, name)
      writeFileSync(file, `${text}\n`)
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
