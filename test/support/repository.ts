/** Repositories without a commit, for tests: `git init` runs once a worker, and what it made is copied. */
import { cp, mkdir, mkdtemp } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { inject } from 'vitest'
import { gitOutput } from './starter.ts'

let template: Promise<string> | undefined

async function makeTemplate(): Promise<string> {
  // With the other templates, which the end of the run removes.
  const folder = await mkdtemp(join(dirname(inject('sqliteTemplate')), 'empty-repository-'))
  await gitOutput(['init', '--quiet'], { cwd: folder })
  return join(folder, '.git')
}

/** Makes a folder a repository, and makes the folder if it is not there. */
export async function initRepository(folder: string): Promise<void> {
  template ??= makeTemplate()
  await mkdir(folder, { recursive: true })
  await cp(await template, join(folder, '.git'), { recursive: true })
}
