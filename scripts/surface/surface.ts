/** The public surface of this tree, and the text of docs/surface.json, which keeps it. */
import { createProgram, exitCodes } from '../../src/app/program.ts'
import { version } from '../../src/app/version.ts'
import { codes } from '../../src/base/errors.ts'
import { shapeOf } from '../../src/doors/cli/completions.ts'
import { subjects } from '../../src/settings/all.ts'
import { servedDoors } from '../docs/doors.ts'
import { runningSurface } from './running.ts'
import { commandSurface, doorSurface, namedSurface, type Surface, settingsSurface, surfaceOf } from './statements.ts'

export const currentSurface = async (): Promise<Surface> =>
  surfaceOf(
    ...servedDoors.map(({ door }) => doorSurface(door)),
    commandSurface(shapeOf(await createProgram([], { ...process, env: {} }, true))),
    settingsSurface(subjects),
    namedSurface('error', codes),
    namedSurface('exit', exitCodes),
    await runningSurface(),
  )

/** A line each, in their order: two changes meet in one line only where they are about the same. */
export const surfaceText = (surface: Surface): string => `${JSON.stringify({ version, ...surface }, undefined, 2)}\n`
