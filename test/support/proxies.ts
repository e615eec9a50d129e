/** nginx and Caddy as they are shipped in deploy/, on ports of the test, where the machine has the programs. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Later, temporaryFolder } from './parley.ts'
import { freePort } from './redis-server.ts'
import { root } from './sources.ts'

const tls = fileURLToPath(new URL('../fixtures/tls/', import.meta.url))
export const certificate = join(tls, 'certificate.pem')
const key = join(tls, 'key.pem')

export type ProxyName = 'nginx' | 'caddy'

export const isInstalled = (name: ProxyName): boolean =>
  spawnSync(name, [name === 'nginx' ? '-v' : 'version']).status === 0

interface Place {
  readonly folder: string
  readonly port: number
  readonly nodes: readonly number[]
}

/** Each occurrence has to be there: a shipped file that changes is not tested past its change. */
function replaced(text: string, changes: readonly (readonly [from: string | RegExp, to: string])[]): string {
  return changes.reduce((changed, [from, to]) => {
    const next = changed.replaceAll(from, to)
    if (next === changed) throw new Error(`${from} is not in the file`)
    return next
  }, text)
}

async function nginxArgs({ folder, port, nodes: [first, second] }: Place): Promise<string[]> {
  const shipped = await readFile(join(root, 'deploy', 'nginx', 'parley.conf'), 'utf8')
  const site = replaced(shipped, [
    ['listen 80;', `listen 127.0.0.1:${await freePort()};`],
    ['listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`],
    ['parley.example;', 'localhost;'],
    [/ssl_certificate \S+;/g, `ssl_certificate ${certificate};`],
    [/ssl_certificate_key \S+;/g, `ssl_certificate_key ${key};`],
    ['127.0.0.1:8765', `127.0.0.1:${first}`],
    ['127.0.0.1:8766', `127.0.0.1:${second}`],
  ])
  await writeFile(join(folder, 'site.conf'), site)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (part) => `${part}_temp_path ${folder}/${part};`,
  )
  // Else root's nginx works as a user who may not write bodies into the folder.
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  const main = `${user} daemon off; pid ${folder}/nginx.pid; error_log ${folder}/error.log; worker_processes 1; events {}
http { access_log off; ${temporary.join(' ')} include ${folder}/site.conf; }`
  await writeFile(join(folder, 'nginx.conf'), main)
  return ['-c', join(folder, 'nginx.conf'), '-p', folder, '-e', join(folder, 'error.log')]
}

async function caddyArgs({ folder, port, nodes: [first, second] }: Place): Promise<string[]> {
  const shipped = await readFile(join(root, 'deploy', 'caddy', 'Caddyfile'), 'utf8')
  const site = replaced(shipped, [
    ['parley.example {', `https://localhost:${port} {\n\ttls ${certificate} ${key}`],
    ['127.0.0.1:8765', `127.0.0.1:${first}`],
    ['127.0.0.1:8766', `127.0.0.1:${second}`],
  ])
  await writeFile(
    join(folder, 'Caddyfile'),
    `{\n\tadmin off\n\tauto_https disable_redirects\n\tdefault_bind 127.0.0.1\n}\n${site}`,
  )
  return ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile']
}

/** Answers once a node answers through it. */
export async function startProxy(
  name: ProxyName,
  nodes: readonly number[],
  later?: Later,
): Promise<{
  url: string
  /** Its log of requests that failed. */
  errors(): Promise<string>
}> {
  const folder = await temporaryFolder(later)
  await mkdir(join(folder, 'home'))
  const port = await freePort()
  const args = await (name === 'nginx' ? nginxArgs : caddyArgs)({ folder, port, nodes })
  const env = { PATH: process.env.PATH ?? '', HOME: join(folder, 'home') }
  const child = spawn(name, args, { env, stdio: ['ignore', 'ignore', 'pipe'] })
  const gone = once(child, 'exit')
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  ;(later ?? (() => {}))(async () => {
    child.kill('SIGTERM')
    await gone
  })
  const url = `https://localhost:${port}`
  for (let tries = 0; ; tries++) {
    if (child.exitCode !== null || tries > 400) throw new Error(`${name} does not answer:\n${said}`)
    const status = await fetch(`${url}/health/readiness`).then(
      (answer) => answer.status,
      () => 0,
    )
    if (status === 200)
      return { url, errors: async () => (name === 'nginx' ? readFile(join(folder, 'error.log'), 'utf8') : said) }
    await sleep(25)
  }
}
