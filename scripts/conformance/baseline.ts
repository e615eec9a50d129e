/** The scenarios that the suite requires of a server and that are about what Parley does not offer, each with its reason. */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const contents = 'Tools answer text and structured content; no door has images, audio or embedded resources to answer.'
const prompts = 'No door has prompts.'
const asking = 'No tool asks its client for anything: an agent is asked by a message, which outlives the call.'
const logs = 'The hub tells a client of its own calls, one message each; tools have no log of their own.'

/** One that passes must not stand here: the run fails until it is taken out. */
export const baseline: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '2025-11-25': {
    'tools-call-image': contents,
    'tools-call-audio': contents,
    'tools-call-embedded-resource': contents,
    'tools-call-mixed-content': contents,
    'tools-call-with-logging': logs,
    'tools-call-sampling': asking,
    'tools-call-elicitation': asking,
    'elicitation-sep1034-defaults': asking,
    'elicitation-sep1330-enums': asking,
    'prompts-get-simple': prompts,
    'prompts-get-with-args': prompts,
    'prompts-get-embedded-resource': prompts,
    'prompts-get-with-image': prompts,
  },
  '2026-07-28': {
    'tools-call-image': contents,
    'tools-call-audio': contents,
    'tools-call-embedded-resource': contents,
    'tools-call-mixed-content': contents,
    'prompts-get-simple': prompts,
    'prompts-get-with-args': prompts,
    'prompts-get-embedded-resource': prompts,
    'prompts-get-with-image': prompts,
    'input-required-result-basic-elicitation': asking,
    'input-required-result-basic-sampling': asking,
    'input-required-result-basic-list-roots': asking,
    'input-required-result-request-state': asking,
    'input-required-result-multiple-input-requests': asking,
    'input-required-result-multi-round': asking,
    'input-required-result-non-tool-request': asking,
    'input-required-result-result-type': asking,
    'input-required-result-tampered-state': asking,
    'input-required-result-capability-check': asking,
  },
}

/** They pass at any server whose tools ask nothing, even one that fails at everything: they are not counted as passed. */
const vacuous = new Set([
  'input-required-result-missing-input-response',
  'input-required-result-ignore-extra-params',
  'input-required-result-validate-input',
])

const folder = new URL('../../node_modules/@modelcontextprotocol/conformance/requirements/', import.meta.url)

export interface Required {
  readonly all: number
  /** Those that say something of Parley. */
  readonly telling: readonly string[]
}

/** The scenarios that a revision requires of servers, by the suite's own list. */
export async function requiredBy(revision: string): Promise<Required> {
  const text = await readFile(fileURLToPath(new URL(`${revision}.yaml`, folder)), 'utf8')
  const [, servers = ''] = /^server:\n((?: {2}- .*\n)+)/m.exec(text) ?? []
  const scenarios = servers.match(/[\w-]+(?=\n)/g)
  if (scenarios === null) throw new Error(`The suite requires nothing of servers in ${revision}.`)
  return { all: scenarios.length, telling: scenarios.filter((scenario) => !vacuous.has(scenario)) }
}
