/** What Parley promises about the tools of other servers. */
import type { Requirement } from '../requirements.ts'

// biome-ignore format: a table, one promise a line
export const bridge = [
  { id: 'hub.bridge.config', spec: 'DECISIONS hub 15', says: 'BRIDGE_CONFIG is read at the start; what is wrong with it is a fault that shows no credential.' },
  { id: 'hub.bridge.allowed', spec: 'DECISIONS hub 15', says: 'Of a bridged server only tools of its allow-list are offered, as server.tool, with its own credentials.' },
  { id: 'hub.bridge.hostile', spec: 'DECISIONS hub 15', says: 'Names that do not fit are left out, descriptions cut and cleaned, schemas flat or any object.' },
  { id: 'hub.bridge.bounds', spec: 'DECISIONS hub 15', says: 'A bridged call that does not come back well is BRIDGE_TIMEOUT, _TOO_LARGE or _UNAVAILABLE.' },
  { id: 'hub.bridge.away', spec: 'DECISIONS hub 15', says: 'A bridged server that is away holds nothing up, and is connected once it is there.' },
] as const satisfies readonly Requirement[]
