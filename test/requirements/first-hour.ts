/** Promises to somebody who tries Parley for the first time: the pages they read, and the time until an agent is answered. */

// biome-ignore format: a table, one promise a line
export const firstHour = [
  { id: 'docs.shell.runs', spec: 'DESIGN Interface', says: 'Shell blocks of README, start.md and two-machines.md run as written, in order, from an empty HOME.' },
  { id: 'docs.shell.names', spec: 'DESIGN Interface', says: 'Pages say parley or npx parley-hub, and no path of a file of Parley.' },
  { id: 'docs.readme.short', spec: 'DESIGN Interface', says: 'README tells the beginning in at most 900 words, with one table of four doors.' },
  { id: 'start.story.repository', spec: 'DESIGN Callers', says: 'Two agents with settings written by parley init talk in one repository, and no call names them or it.' },
  { id: 'start.story.owners', spec: 'DESIGN Callers', says: 'Two owners on two machines talk by invite, join and connect over TLS, with npx and nothing installed.' },
  { id: 'start.story.operator', spec: 'DESIGN Interface', says: 'An operator serves from PostgreSQL with a token; status names the store; agents with keys talk.' },
] as const
