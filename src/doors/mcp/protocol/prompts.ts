/** `prompts/get`: the prompt of that name, with its arguments. */
import { openDialogue } from './dialogue.ts'
import { isRecord, type Json } from './json.ts'
import { type Incoming, invalid } from './methods.ts'
import type { Service } from './service.ts'

export async function getPrompt<Scope>(service: Service<Scope>, incoming: Incoming<Scope>): Promise<Json> {
  const { params, exchange } = incoming
  const { name, arguments: given = {} } = params
  const prompts = service.door.prompts ?? []
  const prompt = prompts.find((one) => one.name === name)
  if (prompt === undefined)
    throw invalid(prompts.length === 0 ? 'There are no prompts here.' : 'There is no such prompt here.')
  if (!isRecord(given)) throw invalid('The arguments must be an object.')
  const args: Record<string, string> = {}
  for (const { name, required } of prompt.arguments ?? []) {
    const value = given[name]
    if (typeof value === 'string') args[name] = value
    else if (value !== undefined || required) throw invalid(`The argument "${name}" must be a string.`)
  }
  if (prompt.talks) exchange.dialogue = openDialogue(service, incoming)
  return { description: prompt.description, messages: await prompt.get(args, exchange) }
}
