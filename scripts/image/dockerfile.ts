/** Reads the few instructions of deploy/Dockerfile. Any other is an error: what is not understood is not tried. */
export interface Step {
  readonly instruction: 'ARG' | 'COPY' | 'ENV' | 'RUN' | 'USER' | 'WORKDIR'
  readonly text: string
}

export interface Stage {
  readonly name: string
  readonly base: string
  readonly steps: readonly Step[]
  /** Of the image, not of its making. */
  readonly meta: Readonly<Record<string, string>>
}

const steps: ReadonlySet<string> = new Set(['ARG', 'COPY', 'ENV', 'RUN', 'USER', 'WORKDIR'])
const meta: ReadonlySet<string> = new Set(['CMD', 'ENTRYPOINT', 'EXPOSE', 'HEALTHCHECK', 'VOLUME'])

export function stagesOf(text: string): Stage[] {
  const stages: { name: string; base: string; steps: Step[]; meta: Record<string, string> }[] = []
  const lines = text.replace(/^\s*#.*\n/gm, '').replace(/\\\n\s*/g, ' ')
  for (const line of lines.split('\n').filter((one) => one.trim() !== '')) {
    const [, instruction = '', rest = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? []
    if (instruction === 'FROM') {
      const [, base = '', name = String(stages.length)] = /^(?:--platform=\S+ )?(\S+)(?: AS (\S+))?$/.exec(rest) ?? []
      stages.push({ name, base, steps: [], meta: {} })
      continue
    }
    const stage = stages.at(-1)
    if (stage === undefined || !(steps.has(instruction) || meta.has(instruction)))
      throw new Error(`This script does not know ${line}`)
    if (meta.has(instruction)) stage.meta[instruction] = rest
    else stage.steps.push({ instruction: instruction as Step['instruction'], text: rest })
  }
  return stages
}

export const pairsOf = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value]))

/** The words of `["parley", "serve"]`, or of `--interval=10s CMD ["parley", "health"]`. */
export function wordsOf(text = '[]'): string[] {
  const list = /\[.*\]$/.exec(text)?.[0]
  if (list === undefined) throw new Error(`${text} would need a shell`)
  return JSON.parse(list) as string[]
}
