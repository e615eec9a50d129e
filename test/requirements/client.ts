/** Promises of `parley mailbox`, the client of the post door, and of its bridge to OpenClaw. */

// biome-ignore format: a table, one promise a line
export const client = [
  { id: 'client.tools.all', spec: 'post.md §5', says: 'The five tools of the spec, mailbox_wait and mailbox_reply are there in both eras and answer text.' },
  { id: 'client.tools.connect', spec: 'post.md §5', says: 'mailbox_connect gives the code, mailbox_approve takes it, and both may write.' },
  { id: 'client.tools.talk', spec: 'post.md §5', says: 'mailbox_send, check, read and reply hold a conversation; reading marks as read, checking does not.' },
  { id: 'client.errors.worded', spec: 'DECISIONS all 10', says: 'What the server refuses is a tool error with its reason and the next step.' },
  { id: 'client.key.missing', spec: 'post.md §9', says: 'Without a key, or with a wrong one, every tool says what has to be set.' },
  { id: 'client.settings.environment', spec: 'DECISIONS all 19', says: 'Its settings come from the environment and PARLEY_ENV_FILE, never from the .env of a folder.' },
  { id: 'client.settings.address', spec: 'DECISIONS post 9', says: 'MAILBOX_SERVER_URL is host:port or a URL, and https makes the WebSocket wss.' },
  { id: 'client.server.away', spec: 'post.md §5', says: 'A server that is away is a tool error that says so and what to do; once it is back, calls work.' },
  { id: 'client.server.stranger', spec: 'post.md §5', says: 'Something else that answers at the address is told from a Parley server.' },
  { id: 'client.wait.arrives', spec: 'DECISIONS all 4', says: 'mailbox_wait ends with the message as soon as it is sent, marks it as read, and is cut to MAX_WAIT_SECONDS.' },
  { id: 'client.wait.once', spec: 'DECISIONS post 6', says: 'Of several clients with one key, one is given a message by mailbox_wait.' },
  { id: 'client.wait.lost', spec: 'DESIGN One wait', says: 'A message whose answer did not reach the model stays unread, and comes again.' },
  { id: 'client.wait.connections', spec: 'post.md §4.3', says: 'mailbox_wait tells of connection requests and approvals, each once.' },
  { id: 'client.socket.reconnect', spec: 'post.md §6.3', says: 'The WebSocket comes back after 1, 2, 4 … 30 s, less up to a fifth by chance, and begins anew once open.' },
  { id: 'client.socket.missed', spec: 'post.md §6.3', says: 'What was sent while the socket was closed is there after the reconnect.' },
  { id: 'client.socket.heartbeat', spec: 'post.md §6.4', says: 'It pings every 25 s; a server that is silent for a minute is given up, and tried anew.' },
  { id: 'client.socket.secret', spec: 'DECISIONS post 2', says: 'The key goes in a header of the WebSocket, never in its URL.' },
  { id: 'client.stdio.ends', spec: 'post.md §5.2', says: 'It speaks the protocol alone on stdout, and ends with its stdin or by a signal.' },
  { id: 'client.help.settings', spec: 'post.md §9', says: 'parley mailbox --help names its settings and --bridge.' },

  { id: 'all.text.fenced', spec: 'DECISIONS all 9', says: "Other agents' text is fenced, names its sender, is marked as data, and cannot end its fence." },

  { id: 'bridge.start.token', spec: 'DECISIONS post 9', says: 'The bridge runs beside the tools where the gateway token is set, or alone with --bridge.' },
  { id: 'bridge.start.catch-up', spec: 'DECISIONS post 6', says: 'What is unread when a bridge starts is brought to the gateway, in its order.' },
  { id: 'bridge.gateway.call', spec: 'DECISIONS post 7', says: 'A message is one sessions_send by /tools/invoke with timeoutSeconds 0, and read once it is accepted.' },
  { id: 'bridge.gateway.inside', spec: 'DECISIONS post 7', says: 'A failure inside a 200, a refusal and a senseless answer are told from acceptance.' },
  { id: 'bridge.gateway.down', spec: 'post, [8]', says: 'While the gateway is away or refuses, the message stays unread and is tried again with back-off.' },
  { id: 'bridge.text.fenced', spec: 'DECISIONS all 9', says: 'The text at the gateway is fenced and names sender, subject, session and the way to answer.' },
  { id: 'bridge.claim.once', spec: 'DECISIONS post 6', says: 'Several bridges with one key bring each message once, also if an event comes twice.' },
  { id: 'bridge.claim.dead', spec: 'DECISIONS post 6', says: 'What a bridge had claimed when it died is brought by another one.' },
  { id: 'bridge.session.kept', spec: 'DECISIONS post 7', says: 'Which OpenClaw session a thread went to is kept in the hub; a session that is gone is replaced.' },
  { id: 'bridge.inline.answer', spec: 'DECISIONS post 7', says: 'Inline, the answer of /v1/chat/completions goes back as an automatic message; NO_REPLY sends none.' },
  { id: 'bridge.turns.limit', spec: 'post, [8]', says: 'After BRIDGE_MAX_TURNS automatic turns the bridge waits and says so once; another message sets it going.' },
  { id: 'bridge.setup.prompt', spec: 'post.md §10', says: "setup_prompt.md has today's configuration of OpenClaw, and its pieces are valid JSON." },
] as const
