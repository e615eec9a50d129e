/** Promises about requests that are hostile, or are cut off. */

// biome-ignore format: a table, one promise a line
export const http = [
  { id: 'all.http.no-session', spec: 'DECISIONS all 10', says: 'GET without a session is 405 with Allow: POST, at every MCP path.' },
  { id: 'all.keys.streams', spec: 'DESIGN Callers', says: 'Streams that were opened with a key end with it: MCP events, subscriptions, WebSockets, pages.' },
  { id: 'all.waits.limited', spec: 'DECISIONS all 4', says: 'Past WAITS_PER_AGENT or WAITS_TOTAL a call that would wait is RATE_LIMITED, and does nothing.' },
  { id: 'all.credentials.proxied', spec: 'DECISIONS all 23', says: 'Local is from loopback, to a loopback name in Host, and without any header that a proxy sets.' },
  { id: 'all.http.same-origin', spec: 'DECISIONS all 23', says: 'An Origin has host and port of Host (loopback names are one), or is in HTTP_ALLOWED_ORIGINS; else 403.' },
  { id: 'all.sessions.delete', spec: 'DECISIONS all 15', says: 'DELETE ends a session, also with a JSON content type and no body, and frees its names.' },
  { id: 'all.unread.stalled', spec: 'DECISIONS all 8', says: 'A connection that takes nothing for 30 s while bytes wait for it is closed.' },
  { id: 'all.unread.budget', spec: 'DECISIONS all 8', says: 'Answers that wait to be read hold 256 MiB together; past that, those that stall the longest are closed.' },
  { id: 'all.unread.batch', spec: 'DECISIONS all 8', says: 'The answers of a batch have 8 MiB together; the rest are errors, and what they took is put back.' },
  { id: 'all.size.nesting', spec: 'DECISIONS all 8', says: 'JSON nested deeper than 100 levels is refused before it is parsed, over HTTP and on stdin.' },
  { id: 'all.size.parts', spec: 'DECISIONS all 8', says: 'JSON of more than 100,000 objects and lists, or a list that is too long, is refused before it is looked into.' },
  { id: 'all.size.keys', spec: 'DECISIONS all 8', says: 'A JSON object of more than 1,000 keys is refused before it is parsed, over HTTP and on stdin.' },
  { id: 'all.size.batch', spec: 'DECISIONS all 8', says: 'A batch of more than 100 messages is refused before it is parsed.' },
  { id: 'all.size.uri', spec: 'DECISIONS all 8', says: 'A URI of more than 8 KiB is refused before it is looked at: 414 for a request, an error for a resource.' },
  { id: 'all.stdio.survives', spec: 'DESIGN Errors', says: 'Whatever one line on stdin holds, the next one is answered.' },
  { id: 'all.stdio.batch', spec: 'DESIGN Errors', says: 'A batch on stdin is refused in clear words.' },
  { id: 'all.errors.short', spec: 'DESIGN Errors', says: 'An error echoes what it was sent in at most a few hundred characters.' },
  { id: 'all.http.utf-eight', spec: 'DECISIONS all 10', says: 'A request that is not valid UTF-8 is refused as malformed: 400 with -32700.' },
  { id: 'all.http.cut-off', spec: 'DESIGN Errors', says: 'An upload that is cut off is no error in the log.' },
  { id: 'all.http.one-host', spec: 'DECISIONS all 10', says: 'A request with two Host headers is 400.' },
  { id: 'all.http.encoding', spec: 'DECISIONS all 10', says: 'A content encoding is 415, and its bytes are not taken for JSON.' },
  { id: 'serve.start.files', spec: 'DESIGN Errors', says: 'The limit of open files bounds the connections; one too low for a hub is one warning at the start.' },
  { id: 'serve.config.http', spec: 'DESIGN Interface', says: 'Values of HTTP_PATH, HTTP_ALLOWED_HOSTS and HTTP_ALLOWED_ORIGINS that could never match are faults.' },
] as const
