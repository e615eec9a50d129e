/** Which clients are on this machine: by their programs on the PATH, and by their folders in the home of the user. */
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Places } from './client.ts'
import { type ClientName, clientNames, clientOf } from './clients.ts'

export const installedClients = (places: Places): ClientName[] =>
  clientNames.filter((name) => {
    const { programs, traces } = clientOf(name)
    return (
      programs.some((program) => findProgram(program, places) !== undefined) ||
      traces.some((trace) => existsSync(join(places.home, trace)))
    )
  })

/** The file of a program on the PATH. */
export function findProgram(name: string, { env, platform }: Pick<Places, 'env' | 'platform'>): string | undefined {
  const endings = platform === 'win32' ? (env.PATHEXT ?? '.EXE;.CMD;.BAT').split(';') : ['']
  const folders = (env.PATH ?? env.Path ?? '').split(delimiter).filter((folder) => folder !== '')
  return folders
    .flatMap((folder) => endings.map((ending) => join(folder, name + ending)))
    .find((file) => existsSync(file))
}
