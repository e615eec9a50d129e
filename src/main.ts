/** The process: hands its arguments, environment and streams to the command line, and ends with the code it answers. */
import { existsSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'
import { runProgram } from './app/program.ts'

const { env, stdin, stdout, stderr } = process
const root = new URL('../', import.meta.url)
// An installed package has no source.
const checkout = existsSync(new URL('src/', root)) ? fileURLToPath(root) : undefined
const code = await runProgram(process.argv.slice(2), { env, stdin, stdout, stderr, checkout })
// Without a code a server goes on, and a command that went well ends by itself once all is written.
if (code !== undefined) process.exit(code)
// Saves compiled code for the next start now, not when the server ends: it may be killed, and V8 drops code that has not run for long.
else flushCompileCache()
