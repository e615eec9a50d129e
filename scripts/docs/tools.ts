/** docs/tools.md: every tool and resource of every MCP door, from the tables the doors are served from. */
import { z } from 'zod'
import type { Door, Offer, Resource, Tool } from '../../src/doors/mcp/table.ts'
import { code, generatedFrom, page, table } from './markdown.ts'
import { type Schema, typeText } from './type-text.ts'

type AnyDoor = Pick<Door<never>, 'title' | 'instructions' | 'tools' | 'resources'>
type AnyTool = Pick<Tool<never>, 'name' | 'description' | 'input' | 'output' | 'wrapped'>
type AnyResource = Pick<Resource<never>, 'uri' | 'description'>

export interface ServedDoor {
  readonly door: AnyDoor
  /** Where it is served, as in `/agents/{agent}/mcp`. */
  readonly url?: string
  /** The command that speaks it over stdin and stdout. */
  readonly command?: string
  /** The values of `?tools=` on the URL, and which tools are offered then. */
  readonly shortLists?: Readonly<Record<string, Pick<Offer, 'tools'>>>
}

export function renderTools(doors: readonly ServedDoor[]): string {
  return page(generatedFrom("the doors' tables"), '# Tools', ...doors.flatMap(renderDoor))
}

function renderDoor({ door, url, command, shortLists = {} }: ServedDoor): string[] {
  const resources = door.resources.length === 0 ? [] : ['### Resources', renderResources(door.resources)]
  return [
    `## ${door.title}`,
    ...(url === undefined ? [] : [`Served at ${code(url)}.`]),
    ...(command === undefined ? [] : [`Spoken over stdin and stdout by ${code(command)}.`]),
    ...Object.entries(shortLists).map(
      ([name, { tools }]) => `With ${code(`?tools=${name}`)} only ${[...tools].map(code).join(', ')} are offered.`,
    ),
    door.instructions,
    ...door.tools.flatMap(renderTool),
    ...resources,
  ]
}

export const inputOf = (input: z.ZodType): Schema => z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' })

export const outputOf = (output: z.ZodType): Schema => z.toJSONSchema(output, { io: 'output', unrepresentable: 'any' })

function renderTool(tool: AnyTool): string[] {
  const { properties = {}, required = [] } = inputOf(tool.input)
  const rows = Object.entries(properties).map(([name, schema]) => argument(name, schema, required.includes(name)))
  const args = rows.length === 0 ? 'No arguments.' : table(['argument', 'type', 'default', ''], rows)
  return [`### ${code(tool.name)}`, tool.description, args, `Answers ${answer(tool)}.`]
}

function argument(name: string, schema: Schema | boolean, required: boolean): string[] {
  const { default: value, description = '' } = typeof schema === 'boolean' ? {} : schema
  const otherwise = required ? 'required' : value === undefined ? '' : code(JSON.stringify(value))
  return [code(name), code(typeText(schema)), otherwise, description]
}

function answer({ output, wrapped }: AnyTool): string {
  if (output === undefined) return 'text'
  const type = typeText(outputOf(output))
  return code(wrapped ? `{ result: ${type} }` : type)
}

function renderResources(resources: readonly AnyResource[]): string {
  return table(
    ['uri', ''],
    resources.map(({ uri, description }) => [code(uri), description]),
  )
}
