/** Promises about running Parley for others: upgrades, and what operators do. */
import type { Requirement } from '../requirements.ts'

// biome-ignore format: a table, one promise a line
export const running = [
  { id: 'serve.base.path', spec: 'mail.md Deployment quick notes', says: 'Below HTTP_BASE_PATH all doors, pages, redirects, cookies and URLs carry the path; a proxy may take it off.' },
  { id: 'serve.proxies.trusted', spec: 'mail.md Deployment quick notes', says: 'Scheme and host of a client come from the headers of trusted proxies alone, and never name a foreign host.' },
  { id: 'upgrade.steps.own', spec: 'DECISIONS bus 1', says: 'Each migration is a transaction of its own: one that fails undoes nothing of those before it.' },
  { id: 'upgrade.beside.runs', spec: 'DECISIONS bus 1', says: 'A node starts on a newer schema if each newer migration says that nodes like it can run beside it.' },
  { id: 'upgrade.beside.refuses', spec: 'DECISIONS bus 1', says: 'A node refuses a newer schema whose migrations do not say so, and names it.' },
  { id: 'upgrade.beside.backup', spec: 'DECISIONS bus 1', says: 'A node on a newer schema with tables that it does not know makes no backup without them.' },
  { id: 'upgrade.beside.statements', spec: 'DECISIONS bus 1', says: 'Statements that a running node keeps prepared on PostgreSQL go on after another node has changed their tables.' },
  { id: 'upgrade.plan.shown', spec: 'DECISIONS bus 1', says: '`migrate --plan` shows the SQL of each missing step and whether older nodes run beside it; nothing changes.' },
  { id: 'upgrade.stored.migrates', spec: 'DECISIONS bus 1', says: 'A stored database of each release is brought up to date on both engines, with every row.' },
  { id: 'upgrade.stored.unchanged', spec: 'DECISIONS bus 1', says: 'The SQL of a released migration never changes.' },
  { id: 'cli.call.tool', spec: 'mail.md OpenCode', says: '`call` calls a tool of a running server with JSON, prints its result as JSON, and ends with 1 where it fails.' },
  { id: 'cli.call.resource', spec: 'mail.md OpenCode', says: '`resource` prints a resource of a running server.' },
  { id: 'cli.call.token', spec: 'mail.md OpenCode', says: 'A call carries the key or token that is kept for its server, and no other.' },
  { id: 'cli.doctor.endpoints', spec: 'mail.md Development quick start', says: '`doctor --endpoints` asks every door of the running server.' },
  { id: 'cli.doctor.guard', spec: 'mail.md Development quick start', says: '`doctor --guard` looks at the guard of a repository, and tells what it would say now.' },
  { id: 'mail.guide.runs', spec: 'mail.md Client Integration Guide', says: 'The example clients follow the integration guide against a running server.' },
  { id: 'deploy.capabilities.true', spec: 'mail.md Client Integration Guide', says: 'The template of capabilities names what the server gives at each URL.' },
  { id: 'serve.socket.credentials', spec: 'DESIGN Callers', says: 'On a Unix socket, open to its group, every caller needs credentials; the socket of a killed server is reused.' },
  { id: 'serve.socket.activated', spec: 'DESIGN Interface', says: 'A server listens on the socket that systemd has opened, on any Node, and during a restart connections wait.' },
  { id: 'serve.tls.renewed', spec: 'DESIGN Interface', says: 'With a certificate it serves HTTPS; SIGHUP reads the certificate again, and a broken one changes nothing.' },
  { id: 'serve.notify.told', spec: 'DESIGN Interface', says: 'systemd is told when the server is ready, and when it stops.' },
  { id: 'release.lock.checked', spec: 'DESIGN The stack', says: 'The check of the lock file finds a package without a hash, a foreign licence, an install script, or a host.' },
  { id: 'release.surface.kept', spec: 'DESIGN Interface', says: '`docs/surface.json` lists every public name of this tree, and nothing else.' },
  { id: 'release.surface.step', spec: 'DESIGN Interface', says: 'A change of the public surface says whether it breaks callers, and which version it makes.' },
  { id: 'deploy.image.bare', spec: 'post.md 11', says: 'The image runs as a user without rights, and its command and its health check need no shell.' },
] as const satisfies readonly Requirement[]
