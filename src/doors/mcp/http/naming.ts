/** The name that a client gives itself beside its credentials: by the header X-Parley-Agent, which counts where ?agent= does. */
import type { FastifyRequest } from 'fastify'
import { HubError } from '../../../base/errors.ts'
import { nameKey } from '../../../base/names.ts'
import { echo } from '../../../base/text.ts'

type Query = Readonly<Record<string, string | string[] | undefined>>

const headerName = 'The header X-Parley-Agent'
const queryName = 'The query parameter "agent"'

/** The query with the name of the header in it, and how errors call the place where the name stands. */
export function nameIn({ headers, raw }: FastifyRequest, given: Query): { query: Query; called: string } {
  const header = headers['x-parley-agent']
  // Clients send an empty one for a variable that is not set, on the URL and in the header.
  const { agent: asked } = given
  if (typeof asked === 'string' && /^\$?\{.*\}$/.test(asked)) throw unfilled(asked, queryName)
  const query = asked === '' ? withoutAgent(given) : given
  if (header === undefined || header === '') return { query, called: queryName }
  // Node joins several by commas; each of its lists of all headers is made for the asking.
  const all = header.includes(',') ? (raw.headersDistinct['x-parley-agent'] ?? []) : []
  if (all.length > 1)
    throw new HubError(
      'INVALID_ARGUMENT',
      `${headerName} stands ${all.length} times in the request: ${all.map((one) => JSON.stringify(echo(one))).join(' and ')}.`,
      { hint: "Take all but one out of your client's settings; a proxy on the way may have added one as well." },
    )
  const name = String(header).trim()
  if (/[${]/.test(name)) throw unfilled(name, headerName)
  if (!/^[\x20-\x7e]*$/.test(name))
    throw new HubError('INVALID_ARGUMENT', `${headerName} must have letters of ASCII only.`, {
      hint: 'Name yourself by ?agent= on the URL, percent-encoded: clients write other letters into a header in several ways.',
    })
  const { agent } = query
  if (agent !== undefined && (typeof agent !== 'string' || nameKey(agent.trim()) !== nameKey(name)))
    throw new HubError(
      'INVALID_ARGUMENT',
      `${headerName} says ${JSON.stringify(echo(name))}, and ?agent= on the URL says ${JSON.stringify(echo(String(agent)))}.`,
      { hint: "Take one of the two out of your client's settings; Parley cannot know which of them you are." },
    )
  return { query: agent === undefined ? { ...query, agent: name } : query, called: headerName }
}

const withoutAgent = ({ agent: _, ...others }: Query): Query => others

/** Under this name the run that a client was started for is in the query that scopes are read from. */
const runKey = 'x-parley-run'

/** The run by the header X-Parley-Run. Clients send an empty one, or the variable itself, where PARLEY_RUN is not set: then there is none. */
export function withRun(headers: FastifyRequest['headers'], query: Query): Query {
  const header = headers[runKey]
  return typeof header === 'string' && /^[\w-]{8,128}$/.test(header) ? { ...query, [runKey]: header } : query
}

/** A variable that the client did not fill in; each client writes variables in its own way. */
function unfilled(value: string, called: string): HubError {
  const [, variable = 'AGENT_NAME', usual] = /([A-Za-z_]\w*)(:-[^}]*)?\}?$/.exec(value.replace('{env:', '{')) ?? []
  const [before, after] = called === headerName ? ['"X-Parley-Agent": "', '"'] : ['?agent=', '']
  const line =
    usual === undefined && value.startsWith('$')
      ? `In the settings of Claude Code and Gemini CLI write ${before}\${${variable}:-}${after}, and start the client with ${variable} set.`
      : `Your client knows no such variable there: write the name itself, as in ${before}GreenCastle${after}.`
  return new HubError(
    'INVALID_ARGUMENT',
    `${called} is ${JSON.stringify(echo(value))}: your client has not filled in the variable.`,
    {
      hint: `${line} OpenCode writes "{env:${variable}}". Codex has no variable for each window: http_headers = { X-Parley-Agent = "GreenCastle" }.`,
    },
  )
}
