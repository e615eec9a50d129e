/** `parley doctor --guard <repo>`: whether the guard of a repository is in place, and what it would say to the staged files now. */
import { resolve } from 'node:path'
import type { Config } from '../settings/all.ts'
import type { Surroundings } from './command-parts.ts'
import { type Check, fault, ok } from './findings.ts'
import { guardSteering } from './guard-steering.ts'

const install = '`parley guard install` in the repository installs it, or brings it up to date.'

export async function* guardOf(config: Config, repository: string, env: Surroundings['env']): Check {
  const folder = resolve(repository)
  const said: string[] = []
  const stderr = { write: (text: string) => said.push(text.trim()) }
  const { state, carried, check } = guardSteering(() => config, { env, stderr })
  const { hook, installed, project, store, faults } = await state(folder)
  if (!installed) return yield fault('guard', `${hook}: no guard checks the commits of this repository.`, install)
  for (const says of faults) yield fault('guard', says, install)
  const known = await carried(folder)
  if (faults.length > 0 || known === undefined) return
  yield ok('guard', `${hook} guards the reservations of ${project}, in ${store}`)
  const passes = await check(known, folder)
  const judged = passes
    ? 'a commit of the staged files passes'
    : 'a commit of the staged files would be stopped, as it should'
  yield ok('guard', [judged, ...said].join('\n'))
}
