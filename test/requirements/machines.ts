/** Promises to agents of other owners and other machines: invitations, joining, connecting. */

// biome-ignore format: a table, one promise a line
export const machines = [
  { id: 'access.invite.key', spec: 'DESIGN Callers', says: 'An invitation gives a key for the agent that it names and no other, whether the agent exists yet or not.' },
  { id: 'access.invite.once', spec: 'DESIGN Callers', says: 'An invitation works once; of two who use it at the same time one is given a key.' },
  { id: 'access.invite.expires', spec: 'DESIGN Callers', says: 'An invitation is no longer good after its time, after it was revoked, and after a newer one for the same agent.' },
  { id: 'access.invite.keyed', spec: 'DESIGN Callers', says: 'An agent that holds a key is not invited, and an older invitation does not give it another.' },
  { id: 'access.invite.guessed', spec: 'DESIGN Callers', says: 'A code of an invitation has 128 random bits; after ten wrong ones in a minute a network is refused.' },
  { id: 'access.invite.hash', spec: 'DESIGN Callers', says: 'The code of an invitation is kept as a hash only, and stands in no log.' },
  { id: 'access.invite.preview', spec: 'DESIGN Callers', says: 'Opening an invitation in a browser shows steps to copy, asks nothing of the store and uses nothing up.' },
  { id: 'access.keys.newcomer', spec: 'DESIGN Callers', says: 'keys create gives a key to an agent that is not there yet, too, and says that it was made.' },
  { id: 'cli.invite.line', spec: 'DESIGN Callers', says: 'parley invite prints one line to pass on, with the public URL; invitations list shows and revoke ends them.' },
  { id: 'web.forms.invitations', spec: 'DESIGN Callers', says: 'People invite on the pages: the link is shown once, open invitations are listed and can be revoked.' },
  { id: 'serve.public.shown', spec: 'DESIGN Interface', says: 'HTTP_PUBLIC_URL is what the banner, /docs, /openapi.json, pages and invitations show.' },
  { id: 'serve.public.hosts', spec: 'DECISIONS all 10', says: 'HTTP_PUBLIC_URL allows its host and origin; a 403 for another Host names the setting.' },
  { id: 'serve.public.missing', spec: 'DESIGN Interface', says: 'A server that listens beyond loopback without HTTP_PUBLIC_URL says so when it is ready.' },
  { id: 'cli.join.key', spec: 'DESIGN Callers', says: 'parley join says what it will do and asks, stores the key in a file of mode 600, and checks the connection.' },
  { id: 'cli.join.again', spec: 'DESIGN Callers', says: 'parley join puts a new key in the place of one that the server does not take any more, by an invitation or with --key from stdin, and leaves a good one.' },
  { id: 'cli.join.lies', spec: 'DESIGN Callers', says: 'parley join refuses a server that answers with another agent than the link names, and stores nothing.' },
  { id: 'connect.door.front', spec: 'DESIGN Callers', says: 'parley connect fronts the mail, mailbox, hub or bus door of a server in both eras, with the stored key.' },
  { id: 'connect.door.identity', spec: 'DESIGN Callers', says: 'At the mail door connect names the repository of the working folder, and without a key the agent.' },
  { id: 'connect.door.notices', spec: 'DESIGN Callers', says: 'connect passes on notifications, progress and cancellation.' },
  { id: 'connect.restart.waits', spec: 'DESIGN Callers', says: 'A call by connect waits up to 30 s for a server that restarts; a session goes on after it.' },
  { id: 'connect.restart.send', spec: 'DESIGN Callers', says: 'connect repeats a send under its client id: it is stored once. Other writes end with an error instead.' },
  { id: 'connect.server.strangers', spec: 'DESIGN Callers', says: 'connect does not pass on answers and progress that belong to no request of its client.' },
  { id: 'connect.server.found', spec: 'DECISIONS all 19', says: 'connect, wait, hook, run, call and init call one server: the named one, PARLEY_SERVER of any file of settings, the one that runs on the store, else that of the settings.' },
  { id: 'connect.start.light', spec: 'DESIGN Callers', says: 'connect loads no database, no sharp and no pg; parley mailbox neither sharp nor pg.' },
] as const
