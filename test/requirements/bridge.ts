/** Promises about the tools of other servers. */
import type { Requirement } from '../requirements.ts'

// biome-ignore format: a table, one promise a line
export const bridge = [
  { id: 'hub.bridge.config', spec: 'DECISIONS hub 15', says: 'BRIDGE_CONFIG is read at the start; what is wrong with it is a fault that shows no credential.' },
  { id: 'hub.bridge.allowed', spec: 'DECISIONS hub 15', says: 'Of a remote MCP server only tools of its allow-list are offered, as server.tool, with its own credentials.' },
  { id: 'hub.bridge.hostile', spec: 'DECISIONS hub 15', says: 'Names that do not fit are left out, descriptions cut and cleaned, schemas flat or any object.' },
  { id: 'hub.bridge.bounds', spec: 'DECISIONS hub 15', says: 'A bridged call that does not come back well is BRIDGE_TIMEOUT, _TOO_LARGE or _UNAVAILABLE.' },
  { id: 'hub.bridge.away', spec: 'DECISIONS hub 15', says: 'A remote MCP server that is away holds nothing up, and is connected once it is there.' },
  { id: 'hub.bridge.grant', spec: 'DECISIONS hub 15', says: 'Without a grant of the operator a bridged tool is not listed, and a call of it is as to an unknown one.' },
  { id: 'hub.bridge.dies', spec: 'DECISIONS hub 15', says: 'A remote MCP server that ends or fails at any step is away and tried again; it never ends Parley.' },
  { id: 'hub.bridge.memory', spec: 'DECISIONS hub 15', says: 'A bridged program is cut off at max_bytes of stdout; a schema is flattened within a budget.' },
  { id: 'hub.bridge.ended', spec: 'DECISIONS hub 15', says: 'A bridged program that ignores the end of its stdin is killed with the server, with all it started.' },
  { id: 'hub.bridge.log', spec: 'DECISIONS hub 15', says: 'The log names the kind and status of a remote MCP server’s error, never its text.' },
  { id: 'hub.bridge.failed', spec: 'DECISIONS hub 15', says: 'A bridged result with isError is an error here too: BRIDGE_FAILED, with its text in quotes.' },
  { id: 'hub.bridge.arguments', spec: 'DECISIONS hub 15', says: 'Arguments of a bridged tool are checked against its listed schema before the other server is asked.' },
  { id: 'hub.bridge.absent', spec: 'DECISIONS hub 15', says: 'A granted tool of a server that is away, or was never there, is BRIDGE_UNAVAILABLE.' },
  { id: 'hub.bridge.annotations', spec: 'DECISIONS all 3', says: 'A bridged tool is listed with readOnlyHint, destructiveHint, idempotentHint and openWorldHint.' },
] as const satisfies readonly Requirement[]
