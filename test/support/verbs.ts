/** The verbs of core that doors import, read from the code: functions whose first parameter is the hub. */
import { exportedFrom, importedNames } from './layers.ts'
import type { Source } from './sources.ts'

export interface VerbInReach {
  readonly name: string
  readonly file: string
  /** The type by which it is told who calls; undefined if its second parameter is another. */
  readonly caller: string | undefined
}

/** Parameters that carry a caller: alone, with the agent that it acts as or is, or with the holder of a name. */
const callerTypes = ['Caller', 'Acting', 'Holder', 'HubCaller']

export function verbsInReach(sources: readonly Source[]): VerbInReach[] {
  const core = new Map(sources.filter(({ path }) => path.startsWith('src/core/')).map((file) => [file.path, file]))
  const doors = sources.filter(({ path }) => /^src\/doors\/.*(?<!\.test)\.ts$/.test(path))
  const found = new Map<string, VerbInReach>()
  for (const { target, name } of doors.flatMap(importedNames)) {
    const file = declaredIn(core, target, name)
    const signature = signatureOf(core.get(file)?.text ?? '', name)
    if (!signature) continue
    const [, second = ''] = /^\(\s*hub: Hub\s*,\s*(?:\{[^}]*\}|\w+)\s*:\s*(\w+)/.exec(signature) ?? []
    const caller = callerTypes.includes(second) ? second : undefined
    found.set(`${file} ${name}`, { name, file, caller })
  }
  return [...found.values()].sort((a, b) => a.name.localeCompare(b.name))
}

/** A file may hand on the verb of another. */
function declaredIn(core: ReadonlyMap<string, Source>, path: string, name: string): string {
  const source = core.get(path)
  const handedOn = source && exportedFrom(source).find((one) => one.name === name)
  return handedOn ? declaredIn(core, handedOn.target, name) : path
}

/** From the opening parenthesis on, if the first parameter is the hub. */
function signatureOf(text: string, name: string): string | undefined {
  const declared = new RegExp(
    `export (?:(?:async )?function\\*? ${name}(?:<[^>]*>)?|const ${name} =(?: async)? ?)(\\(\\s*hub: Hub[\\s\\S]{0,400})`,
  )
  return declared.exec(text)?.[1]
}
