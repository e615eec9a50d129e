/** `parley export` and `parley import`: a project or a thread, as a page to read or as JSON that can be taken in again. */
import { closeSync, openSync, readSync } from 'node:fs'
import { type FileHandle, mkdir, open as openFile, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import { type Command, Option } from 'commander'
import { HubError } from '../../../base/errors.ts'
import { operator } from '../../../core/access/callers.ts'
import type { Hub } from '../../../core/hub/hub.ts'
import { exportProject } from '../../../core/transfers/exporting.ts'
import { importProject } from '../../../core/transfers/importing.ts'
import type { ExportRecord, FileRecord } from '../../../core/transfers/records.ts'
import { examples, newCommand, type Open, outJson, withHub, withJson } from '../commands.ts'
import { notWritten } from '../failures.ts'
import { harmlessLine } from '../terminal/harmless.ts'
import { count } from '../terminal/phrases.ts'
import { withProgress } from '../terminal/progress.ts'
import type { Screen } from '../terminal/screen.ts'
import { fromLine, toLine } from './export-lines.ts'
import { pageOf } from './export-page.ts'

interface ExportOptions {
  readonly thread?: string
  readonly format: 'md' | 'json'
  readonly output?: string
  readonly force?: true
}

export const exportCommand = (open: Open, screen: Screen): Command =>
  newCommand('export', screen)
    .description(
      'write out a project or one of its threads: md for people, json (one record a line) for `parley import`',
    )
    .argument('<project>', 'its slug or its key')
    .option(
      '--thread <id>',
      'only this thread: its thread_id, the name or id of a topic, or the id of its first message',
    )
    .addOption(new Option('--format <format>', 'what to write').choices(['md', 'json']).default('md'))
    .option(
      '--output <file>',
      'where to, instead of standard output; only its owner may read it. Attachments of a page are written beside it',
    )
    .option('--force', 'overwrite an existing file')
    .addHelpText(
      'after',
      examples(
        'export backend > backend.md',
        'export backend --format json --output backend.jsonl',
        'export backend --thread FEAT-123',
      ),
    )
    .action((project: string, { thread, format, output, force }: ExportOptions) =>
      withHub(open, screen, async (hub) => {
        const file = output === undefined ? undefined : await create(output, force === true)
        const out = file === undefined ? screen.out : (text: string) => writeTo(file, text)
        const page = pageOf({ beside: output !== undefined })
        const put = async (record: ExportRecord) => {
          if (record.type === 'file' && format === 'md' && output !== undefined)
            await writeBeside(output, record, force === true)
          await out(format === 'md' ? page(record) : toLine(record))
        }
        try {
          const { threads, messages } = await exportProject(hub, operator, {
            project,
            thread,
            byThread: format === 'md',
            files: format === 'json' || output !== undefined,
            write: put,
          })
          if (output !== undefined)
            await screen.out(
              `Wrote ${count(messages, 'message')} in ${count(threads, 'thread')} to ${harmlessLine(output)}.\n`,
            )
        } catch (error) {
          if (output !== undefined) await rm(output, { force: true })
          throw error
        } finally {
          await file?.close()
        }
      }),
    )

async function create(path: string, force: boolean): Promise<FileHandle> {
  try {
    return await openFile(path, force ? 'w' : 'wx', 0o600)
  } catch (error) {
    throw explained(error)
  }
}

async function writeTo(file: FileHandle, text: string): Promise<void> {
  try {
    await file.writeFile(text)
  } catch (error) {
    throw explained(error)
  }
}

const explained = (error: unknown): unknown =>
  notWritten(
    error,
    (error as NodeJS.ErrnoException).code === 'EEXIST'
      ? 'Name another one, or pass --force to overwrite it.'
      : 'Name another one with --output.',
  )

/** Under the path that the page names, relative to it. A file of that name has the same content: its name is its hash. */
async function writeBeside(output: string, { path, bytes }: FileRecord, force: boolean): Promise<void> {
  const file = join(dirname(output), path)
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  try {
    await writeFile(file, bytes, { flag: force ? 'w' : 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' && bytes.equals(await readFile(file))) return
    throw explained(error)
  }
}

/** A file that is missing, or begins like no export, leaves no store behind. */
async function openFor(file: string, open: Open): Promise<Hub> {
  for (const _ of recordsOf(file)) break
  return open()
}

interface ImportOptions {
  readonly into?: string
  readonly force?: true
  readonly missing?: true
  readonly json?: true
}

export const importCommand = (open: Open, screen: Screen): Command =>
  withJson(
    newCommand('import', screen)
      .description('import a file that `parley export --format json` wrote: all of it, or nothing')
      .argument('<file>', 'the file that was exported')
      .option('--into <key>', 'the key of the new project (default: the key of the exported one)')
      .option('--force', 'add it to an existing project; threads whose thread_id is taken get another')
      .option('--missing', 'add only the threads that the project does not have, as mail that was moved out'),
    'import backend.jsonl',
    'import backend.jsonl --into /srv/backend-copy',
  ).action((file: string, { into, force, missing, json }: ImportOptions) =>
    withHub(
      () => openFor(file, open),
      screen,
      async (hub) => {
        const done = await withProgress(screen, 'messages', (progress) =>
          importProject(hub, operator, {
            records: () => recordsOf(file),
            into,
            force: force === true || missing === true,
            missing: missing === true,
            progress: (messages) => progress(messages, 0),
          }),
        )
        const { project, key, agents, threads, messages, passedOver, renamed } = done
        if (json)
          return outJson(screen, {
            project,
            human_key: key,
            agents,
            threads,
            messages,
            ...(missing && { passed_over: passedOver }),
            renamed,
          })
        await screen.out(
          `${harmlessLine(project)}: imported ${count(messages, 'message')} in ${count(threads, 'thread')}, and ${count(agents, 'new agent')}.\n`,
        )
        if (passedOver > 0)
          await screen.note(`${count(passedOver, 'thread')} of it ${passedOver === 1 ? 'is' : 'are'} there already.`)
        for (const { from, to } of renamed)
          await screen.note(`The thread ${harmlessLine(from)} is now ${harmlessLine(to)}.`)
      },
    ),
  )

const chunkBytes = 1_000_000

/** More than the largest file in base64, and the longest body with every character escaped. */
const longestLine = 40_000_000

const tooLong = (number: number): HubError =>
  new HubError('INVALID_ARGUMENT', `Line ${number} is longer than any line of an export of Parley.`, {
    hint: 'Nothing was imported. Pass the file that `parley export --format json` wrote, unchanged.',
  })

/** Synchronous: only its statements may hold up a transaction. */
export function* recordsOf(path: string): Generator<ExportRecord> {
  let handle: number
  try {
    handle = openSync(path, 'r')
  } catch (error) {
    throw new HubError('NOT_FOUND', `The file cannot be read: ${(error as Error).message}.`, {
      hint: 'Nothing was imported.',
    })
  }
  try {
    const bytes = Buffer.alloc(chunkBytes)
    const decoder = new StringDecoder('utf8')
    let rest = ''
    let number = 0
    for (let length = -1; length !== 0; ) {
      length = readSync(handle, bytes)
      const lines = (rest + decoder.write(bytes.subarray(0, length))).split('\n')
      rest = lines.pop() ?? ''
      if (rest.length > longestLine) throw tooLong(number + 1)
      for (const line of lines) if (++number > 0 && line !== '') yield fromLine(line, number)
    }
    if (rest !== '') yield fromLine(rest, number + 1)
  } finally {
    closeSync(handle)
  }
}
