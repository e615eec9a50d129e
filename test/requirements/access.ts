/** Promises about the rights of callers. */

// biome-ignore format: a table, one promise a line
export const access = [
  { id: 'access.verbs.callers', spec: 'DESIGN Callers', says: 'Every verb that a door can reach takes its caller, and the rule sits in the verb.' },
  { id: 'access.verbs.matrix', spec: 'DESIGN Callers', says: 'Each caller may do what the access matrix says with its own and with others’ things, and no more.' },
  { id: 'access.verbs.doors', spec: 'DESIGN Callers', says: 'Through every door each caller may do what the access matrix says of the verb behind it, and no more.' },
  { id: 'access.key.protects', spec: 'DESIGN Interplay', says: 'Once an agent has a key, only its holder and the operator act as it; every process knows within a second.' },
  { id: 'access.key.credentials', spec: 'DECISIONS all 11', says: 'A key is taken as Authorization: Bearer and as X-API-Key, at every HTTP door; a wrong one is refused.' },
  { id: 'access.key.hash', spec: 'DESIGN Callers', says: 'A key is shown once and kept as a hash only.' },
  { id: 'access.key.ended', spec: 'DECISIONS post 5', says: 'A key that was ended is refused at once where it was ended, and by every process within a second.' },
  { id: 'access.sight.messages', spec: 'DESIGN Callers', says: 'Mail is seen by its parties and by those who may act as one; to know or write to its thread opens nothing.' },
  { id: 'access.sight.search', spec: 'DESIGN Callers', says: 'A search finds messages in sight among at least 10,000 matches, however many of them are hidden.' },
  { id: 'access.foreign.missing', spec: 'DESIGN Callers', says: 'The holder of a key is not told a foreign project from a missing one.' },
  { id: 'access.names.one', spec: 'DECISIONS mail 3', says: 'A thread and a message have the same name and subject in every list, in search and in summaries.' },
  { id: 'access.sight.one', spec: 'DECISIONS mail 6', says: 'Every list, count, search, file, event and export shows each caller the messages of one rule.' },
  { id: 'access.roles.reads', spec: 'DECISIONS hub 11', says: 'A caller that may only read changes nothing, whichever verb it reaches, and reads what a writer may.' },
] as const
