/**
 * `npm run image`: makes the image of deploy/Dockerfile without Docker, and runs it: as its user, on a file system that
 * cannot be written, without a shell. It needs root on Linux; elsewhere it says so, and the workflow builds the image for real.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { root as checkout } from '../bin/runtime.js'
import { pairsOf, type Stage, stagesOf, wordsOf } from './image/dockerfile.ts'
import { openRoots, type Roots, run } from './image/roots.ts'

const own = 'PARLEY_IMAGE_NAMESPACE'
const token = 'the-token-of-the-operator'

interface Built {
  readonly root: string
  readonly env: Record<string, string>
  readonly user: string
  readonly meta: Stage['meta']
}

/** The files of the checkout that Git has or would have: a context without .dockerignore's. */
function copyContext(to: string): void {
  const listed = run('git', '-C', checkout, 'ls-files', '-z', '--cached', '--others', '--exclude-standard')
  for (const file of listed.split('\0').filter((name) => name !== '' && existsSync(join(checkout, name)))) {
    mkdirSync(dirname(join(to, file)), { recursive: true })
    cpSync(join(checkout, file), join(to, file))
  }
}

function build(stages: readonly Stage[], roots: Roots): Built {
  const built = new Map<string, Built>()
  for (const { name, base, steps, meta } of stages) {
    const root = roots.make(base)
    let [user, folder] = ['root', '/']
    const env: Record<string, string> = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' }
    for (const { instruction, text } of steps) {
      console.log(`${name}: ${instruction} ${text}`)
      if (instruction === 'WORKDIR') {
        folder = text
        mkdirSync(join(root, folder), { recursive: true })
      }
      if (instruction === 'USER') user = text
      if (instruction === 'ENV') Object.assign(env, pairsOf(text))
      if (instruction === 'COPY') copy(text, join(root, folder), root, built)
      if (instruction === 'RUN') {
        const around = { ...env, HOME: env.HOME ?? '/root' }
        const script = `cd ${folder} && ${text}`
        const { status } = spawnSync('chroot', [root, 'sh', '-c', script], { env: around, stdio: 'inherit' })
        if (status !== 0) throw new Error(`RUN ended with ${status}: ${text}`)
      }
    }
    built.set(name, { root, env, user, meta })
  }
  const last = [...built.values()].at(-1)
  if (last === undefined) throw new Error('The Dockerfile has no stage.')
  return last
}

function copy(text: string, folder: string, root: string, built: ReadonlyMap<string, Built>): void {
  const [, stage, from = '', to = ''] = /^(?:--from=(\S+) )?(\S+) (\S+)$/.exec(text) ?? []
  if (stage === undefined && from === '.' && to === '.') {
    copyContext(folder)
    return
  }
  const source = built.get(stage ?? '')
  if (source === undefined) throw new Error(`This script does not know COPY ${text}`)
  cpSync(join(source.root, from), join(root, to), { recursive: true })
}

/** A command in the image, as its user and without any right. */
function inside({ root, env, user }: Built, command: readonly string[], more: Record<string, string>) {
  const drop = [
    'setpriv',
    `--reuid=${user}`,
    `--regid=${user}`,
    '--clear-groups',
    '--no-new-privs',
    '--bounding-set=-all',
  ]
  return spawn('chroot', [root, ...drop, ...command], {
    env: { ...env, ...more },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  return port
}

const must = (holds: boolean, says: string): void => {
  if (!holds) throw new Error(`not so: ${says}`)
  console.log(`✓ ${says}`)
}

async function tryOut(image: Built): Promise<void> {
  const { root, meta, user } = image
  const installed = join(root, 'usr/local/lib/node_modules/parley-hub')
  const packages = existsSync(join(installed, 'node_modules')) ? readdirSync(join(installed, 'node_modules')) : []
  must(
    !existsSync(join(root, 'src/package.json')) && !packages.includes('vitest'),
    'no source and no tool of development is in it',
  )
  must(
    user !== 'root' && statSync(join(root, 'data')).mode % 0o1000 === 0o700,
    `it runs as ${user}, whose volume nobody else reads`,
  )
  const more = { HTTP_HOST: '127.0.0.1', HTTP_PORT: String(await freePort()), HTTP_BEARER_TOKEN: token }
  const server = inside(image, [...wordsOf(meta.ENTRYPOINT), ...wordsOf(meta.CMD)], more)
  const gone = once(server, 'exit')
  let url: string | undefined
  for await (const line of createInterface(server.stdout)) {
    url = /ready at (http:\/\/\S+)/.exec(line)?.[1]
    if (url !== undefined) break
  }
  must(url !== undefined, 'it serves from a file system that cannot be written, without a shell')
  const [, uid] = /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8')) ?? []
  must(uid !== '0', `its process has the user id ${uid}`)
  const [health] = (await once(inside(image, wordsOf(meta.HEALTHCHECK), more), 'exit')) as [number]
  must(health === 0, 'the health check of the image says that it is ready')
  const call = (headers: Record<string, string>, name: string, args: object) =>
    fetch(`${url}/agents/ann/mcp`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
    })
  must((await call({}, 'check_mail', {})).status === 401, 'it asks everybody for a credential')
  const operator = { Authorization: `Bearer ${token}` }
  await call(operator, 'send_to_agent', { name: 'ann', msg: 'from the image' })
  must(
    (await (await call(operator, 'check_mail', {})).text()).includes('from the image'),
    'it keeps and delivers a message',
  )
  const write = `require('node:fs').writeFileSync('/usr/local/x', '')`
  const [written] = (await once(
    inside(image, ['node', '-e', `try { ${write} } catch { process.exit(7) }`], more),
    'exit',
  )) as [number]
  must(written === 7, 'a file elsewhere cannot be written')
  server.kill('SIGTERM')
  const [code] = (await gone) as [number | null]
  must(code === 0, 'a signal reaches it: it drains, and ends with 0')
}

function namespace(): number {
  const { status } = spawnSync(
    'unshare',
    ['--mount', '--propagation', 'private', process.execPath, ...process.argv.slice(1)],
    {
      env: { ...process.env, [own]: '1' },
      stdio: 'inherit',
    },
  )
  return status ?? 1
}

if (process.platform !== 'linux' || process.getuid?.() !== 0) {
  console.log('skipped: it needs root on Linux, to lay the image over the files of this machine')
} else if (process.env[own] === undefined) {
  process.exitCode = namespace()
} else {
  const roots = openRoots()
  try {
    const image = build(stagesOf(readFileSync(join(checkout, 'deploy', 'Dockerfile'), 'utf8')), roots)
    const volumes = image.meta.VOLUME?.split(' ') ?? []
    roots.seal(image.root, volumes, image.user)
    await tryOut(image)
  } finally {
    roots.remove()
  }
}
