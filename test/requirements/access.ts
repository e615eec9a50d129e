/** What Parley promises about who may do what. */

// biome-ignore format: a table, one promise a line
export const access = [
  { id: 'access.verbs.callers', spec: 'DESIGN Callers', says: 'Every verb that a door can reach takes its caller, and the rule sits in the verb.' },
  { id: 'access.verbs.matrix', spec: 'DESIGN Callers', says: 'Each caller may do what docs/access.md says with its own and with others’ things, and no more.' },
  { id: 'access.key.protects', spec: 'DESIGN Interplay', says: 'Once an agent has a key, nobody but its holder and the operator acts as it, at any door, in any process.' },
  { id: 'access.key.credentials', spec: 'DECISIONS all 11', says: 'A key is taken as Authorization: Bearer and as X-API-Key, at every HTTP door; a wrong one is refused.' },
  { id: 'access.key.hash', spec: 'DESIGN Callers', says: 'A key is shown once and kept as a hash only.' },
  { id: 'access.names.one', spec: 'DECISIONS mail 3', says: 'A thread and a message have the same name and subject in every list, in search and in summaries.' },
] as const
