/** The tools of a door that a scope is offered, and the error for those it is not. */
import type { ToolRow } from './protocol/service.ts'
import type { Told } from './protocol/tools-for-connection.ts'
import type { Door, Offer } from './table.ts'

export interface Offering<Scope> {
  readonly tools: ReadonlyMap<string, ToolRow<Scope>>
  /** The answer of `tools/list`, made when it is first asked for: schemas take a tenth of a start. */
  readonly list: (told: Told) => readonly object[]
  readonly instructions: string
  readonly toldInstructions: string
  /** How to be offered more, where that is possible. */
  readonly more?: string
}

/** Each offer is made ready once, when it is first asked for. */
export function createOfferings<Scope>(
  door: Door<Scope>,
  tools: Offering<Scope>['tools'],
  list: Offering<Scope>['list'],
): (scope: Scope) => Offering<Scope> {
  const all = {
    tools,
    list: onceEach(list),
    instructions: door.instructions,
    toldInstructions: door.toldInstructions ?? door.instructions,
  }
  const parts = new Map<Offer, Offering<Scope>>()
  return (scope) => {
    const offer = door.offer?.(scope)
    if (offer === undefined) return all
    const known = parts.get(offer)
    if (known !== undefined) return known
    const part = {
      tools: new Map([...tools].filter(([name]) => offer.tools.has(name))),
      list: onceEach((told: Told) =>
        all.list(told).filter((_, index) => offer.tools.has(door.tools[index]?.name ?? '')),
      ),
      instructions: offer.instructions ?? all.instructions,
      toldInstructions: offer.toldInstructions ?? offer.instructions ?? all.toldInstructions,
      more: offer.more,
    }
    parts.set(offer, part)
    return part
  }
}

/** The same list for the same connections: it is written once for each era. */
export function onceEach(list: (told: Told) => readonly object[]): (told: Told) => readonly object[] {
  const made = new Map<Told, readonly object[]>()
  return (told) => {
    const known = made.get(told) ?? list(told)
    made.set(told, known)
    return known
  }
}

/** The error for an unknown tool, with the way to one that exists. */
export function unknownTool<Scope>(
  all: ReadonlyMap<string, ToolRow<Scope>>,
  { tools, more }: Offering<Scope>,
  name: unknown,
): { message: string; hint: string } {
  const shown = String(JSON.stringify(typeof name === 'string' ? name.slice(0, 64) : name)).slice(0, 200)
  if (typeof name === 'string' && more !== undefined && all.has(name))
    return { message: `The tool ${shown} is not offered here.`, hint: more }
  return { message: `There is no tool ${shown} here.`, hint: `Tools: ${[...tools.keys()].join(', ')}.` }
}
