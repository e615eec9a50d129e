/** The public surface as sentences, from the tables that the program is served from. */
import type { CommandShape } from '../../src/doors/cli/completions.ts'
import type { Door, Prompt, Resource, Tool } from '../../src/doors/mcp/table.ts'
import type { Subjects } from '../docs/settings.ts'
import { inputOf, outputOf } from '../docs/tools.ts'
import { type Schema, typeText } from '../docs/type-text.ts'

/** Callers lose something if an offer goes, or if a demand comes. */
export interface Surface {
  readonly offers: readonly string[]
  readonly demands: readonly string[]
}

export type AnyDoor = Pick<Door<never>, 'name' | 'tools' | 'resources' | 'prompts'>

export const surfaceOf = (...parts: readonly Surface[]): Surface => ({
  offers: sorted(parts.flatMap(({ offers }) => offers)),
  demands: sorted(parts.flatMap(({ demands }) => demands)),
})

const sorted = (lines: readonly string[]): string[] => [...new Set(lines)].sort()

export function doorSurface({ name, tools, resources, prompts = [] }: AnyDoor): Surface {
  return surfaceOf(
    ...tools.map((tool) => toolSurface(`tool ${name} ${tool.name}`, tool)),
    { offers: resources.map(({ uri }: Pick<Resource<never>, 'uri'>) => `resource ${name} ${uri}`), demands: [] },
    ...prompts.map((prompt) => promptSurface(`prompt ${name} ${prompt.name}`, prompt)),
  )
}

function toolSurface(
  tool: string,
  { input, output, wrapped = false }: Pick<Tool<never>, 'input' | 'output' | 'wrapped'>,
): Surface {
  const takes = inputOf(input)
  return {
    offers: [
      tool,
      ...fieldsOf(takes).map((field) => `${tool} takes ${field}`),
      ...(output === undefined ? [] : fieldsOf(outputOf(output), wrapped ? 'result' : '')).map(
        (field) => `${tool} answers ${field}`,
      ),
    ],
    demands: needsOf(takes).map((field) => `${tool} needs ${field}`),
  }
}

function promptSurface(prompt: string, { arguments: taken = [] }: Pick<Prompt<never>, 'arguments'>): Surface {
  return {
    offers: [prompt, ...taken.map(({ name }) => `${prompt} takes ${name}`)],
    demands: taken.filter(({ required }) => required).map(({ name }) => `${prompt} needs ${name}`),
  }
}

/** `name: type` of each field, a line for each type that it may have, and its own fields as `name.field`. */
function fieldsOf(schema: Schema | boolean, path = ''): string[] {
  if (typeof schema === 'boolean') return [`${path}: any`]
  if (schema.anyOf !== undefined) return schema.anyOf.flatMap((choice) => fieldsOf(choice, path))
  if (schema.enum !== undefined && schema.enum.length > 1)
    return schema.enum.map((value) => `${path}: ${JSON.stringify(value)}`)
  if (schema.type === 'array' && !Array.isArray(schema.items)) return fieldsOf(schema.items ?? true, `${path}[]`)
  if (schema.type !== 'object' || schema.properties === undefined) return [`${path}: ${typeText(schema)}`]
  const inner = Object.entries(schema.properties).flatMap(([name, field]) =>
    fieldsOf(field, path === '' ? name : `${path}.${name}`),
  )
  return path === '' ? inner : [`${path}: object`, ...inner]
}

/** Fields without which a call is refused; in lists and objects, those that go with them. */
function needsOf(schema: Schema | boolean, path = ''): string[] {
  if (typeof schema === 'boolean') return []
  if (schema.anyOf !== undefined) return schema.anyOf.flatMap((choice) => needsOf(choice, path))
  if (schema.type === 'array' && !Array.isArray(schema.items)) return needsOf(schema.items ?? true, `${path}[]`)
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const place = path === '' ? name : `${path}.${name}`
    return [...(schema.required?.includes(name) ? [place] : []), ...needsOf(field, place)]
  })
}

export const settingsSurface = (subjects: Subjects): Surface => ({
  offers: Object.values(subjects).flatMap((rows) =>
    Object.entries(rows).map(
      ([name, row]) => `setting ${name}${row.default === '' ? '' : `, ${row.default} unless set`}`,
    ),
  ),
  demands: [],
})

/** `<name>` in the usage of a command is an argument that it needs. */
export function commandSurface({ path, usage, options, subcommands }: CommandShape): Surface {
  const command = ['parley', ...path].join(' ')
  return surfaceOf(
    {
      offers: [`command ${command}`, ...options.map(({ flags }) => `command ${command} takes ${flags}`)],
      demands: [...usage.matchAll(/<[^>]+>/g)].map(([argument]) => `command ${command} needs ${argument}`),
    },
    ...subcommands.map(commandSurface),
  )
}

export const namedSurface = (kind: string, named: Readonly<Record<string, string | number>>): Surface => ({
  offers: Object.entries(named).map(([name, means]) => `${kind} ${name}: ${means}`),
  demands: [],
})
