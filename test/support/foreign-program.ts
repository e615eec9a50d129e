/**
 * A small MCP program of somebody else, over stdin and stdout: well behaved, but for the one thing that its argument names.
 * `dies:<method>` ends when it is asked that, `answers:<method>` once it has answered it, `dies:` at its first input.
 */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

const [what = 'well'] = process.argv.slice(2)

function flood(text: string): void {
  // 900 MB, as fast as they are read.
  const piece = Buffer.from(text.repeat(65_536 / text.length))
  let left = (900 << 20) / piece.length
  const more = (): void => {
    while (left-- > 0) if (!process.stdout.write(piece)) return void process.stdout.once('drain', more)
  }
  process.stdout.on('error', () => process.exit())
  more()
}

/** Its answer to a call: its own process id, and that of a program which it has started. */
let numbers = `${process.pid}`
if (what === 'stays') {
  process.on('SIGTERM', () => {})
  numbers += ` ${spawn('sleep', ['600'], { stdio: 'ignore' }).pid}`
  setInterval(() => {}, 60_000)
}
if (what === 'floods:start') flood('x')

const results: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'foreign', version: '1' },
  },
  'tools/list': { tools: [{ name: 'search', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: numbers }] },
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line) as { id?: unknown; method: string }
  if (what === 'dies:' || what === `dies:${method}`) process.exit()
  if (method === 'tools/call' && what === 'floods:line') return flood('x')
  if (method === 'tools/call' && what === 'floods:lines')
    return flood('{"jsonrpc":"2.0","id":9,"result":{}}\n'.padEnd(64, '\n'))
  if (id === undefined) return
  const result = results[method]
  const answered = () => what === `answers:${method}` && process.exit()
  const answer = result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result }
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`, answered)
})
