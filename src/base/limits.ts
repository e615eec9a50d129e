/** The fixed limits of Parley, each written once: checks, descriptions and error texts take the number from here (all.size.request, all.size.body). */

const MiB = 1024 * 1024

/** A limit that an operator may change is not here: it is a setting in `settings/<subject>.ts`. */
export const limits = {
  /** Milliseconds after which a client whose stream ended with the server opens another: at another node, or once it runs again. */
  streamRetryMs: 1_000,
  /** Bytes of one request: the body of an HTTP request, or a line on stdin. */
  requestBytes: 4 * MiB,
  /** Levels of lists and objects in the JSON of a request. */
  jsonDepth: 100,
  /** Keys of one object in the JSON of a request. */
  jsonKeys: 1000,
  /** Objects and lists in the JSON of a request. */
  jsonParts: 100_000,
  /** Messages of one batch. */
  batchMessages: 100,
  /** Characters of the URI of a request or of a resource. */
  uriLength: 8192,
  /** Bytes of a message body in UTF-8. */
  bodyBytes: MiB,
  /** Files and images of one message. */
  attachments: 20,
  /** Bytes of a file that is kept as it is, and of all that a message stores. */
  fileBytes: 10 * MiB,
  attachmentBytes: 20 * MiB,
  /** Bytes of an image before it is converted, the pixels of all its pictures together, and the pixels of a side. */
  imageBytes: 32 * MiB,
  imagePixels: 50_000_000,
  imageSide: 16_383,
  /** Bytes of an SVG. */
  svgBytes: MiB,
  /** Bytes of the largest image that stands in the message itself, unless INLINE_IMAGE_MAX_BYTES is higher, and characters of all of them as data URIs. */
  inlineImageBytes: 256 * 1024,
  inlineLength: 512 * 1024,
  /** Characters of the data URIs in an answer with bodies, and in a receipt or on a page. */
  answerInlineLength: MiB,
  bareInlineLength: 16 * 1024,
  /** Characters of a message in a topic, as JavaScript counts them. */
  topicBodyLength: 65_536,
  /** Characters of a message at the post door, as JavaScript counts them; of the words that come with a connection request. */
  postBodyLength: 10_000,
  introLength: 500,
  /** Characters that say how the owner of an agent is reached, and of the name of a session of another program. */
  ownerContactLength: 255,
  sessionKeyLength: 512,
  /** Connection requests of an agent that wait for their answer, and wrong codes that it may try in a minute. */
  pendingContacts: 10,
  wrongCodes: 10,
  /** Wrong tokens and codes that an address may try in a minute to log in at the pages. */
  wrongLogins: 10,
  /** Conversations in one answer, and messages of each of them; bytes of all of them together. */
  conversationsListed: 500,
  recentMessages: 3,
  conversationsBytes: 4 * MiB,
  /** Messages of a conversation in one answer. */
  historyListed: 50,
  /** Characters of the metadata of a message or topic, as JSON. */
  metadataLength: 65_536,
  /** Characters of a subject, or of the name of a topic. */
  titleLength: 255,
  /** Characters of the `message_type` of a message in a topic. */
  kindLength: 32,
  /** Characters of an id that a client chose. */
  clientIdLength: 128,
  /** Characters of a link that goes along with a message. */
  linkLength: 2048,
  /** Characters of the name of a mail thread. */
  threadKeyLength: 128,
  /** Characters of the name of an agent. */
  agentNameLength: 100,
  /** Characters of a name on the bus. */
  busNameLength: 64,
  /** Characters of the slug or key of a project. */
  projectKeyLength: 1024,
  /** Characters of the reason given for a contact, a lease or the end of a topic. */
  reasonLength: 1000,

  /** Seconds of the longest lease: thirty days. A forgotten one does not keep others away for good. */
  leaseSeconds: 30 * 86_400,

  /** Agents, topics, peers, contacts or leases in one answer. */
  listed: 1000,
  /** Messages of an inbox or outbox in one answer. */
  inboxListed: 100,
  /** Bytes of message bodies in one answer of mail. A single body always fits. */
  answerBodyBytes: MiB,
  /** Characters of a text in one answer at the hub: longer ones come in parts. */
  textPartLength: 256 * 1024,
  /** Bytes of an attachment in one answer: in base64 still less than a client may leave unread on a stream. */
  bytesPart: 2 * MiB,
  /** Updates of a session that are told after it was away, and for how long they are: a day. */
  updatesKept: 1000,
  updatesKeptMs: 86_400_000,
  /** Characters of messages in one answer of `sync`; one message always fits, and the next call brings the rest. */
  syncAnswerLength: 2 * MiB,
  /** Bytes of events that a client may leave unread: beyond them its stream is closed before they fill the memory. */
  unreadEventBytes: 4 * MiB,
  /** Bytes of events that wait for one WebSocket, and for all of them together, and bytes of what a client says there. */
  socketBytes: 2 * MiB,
  socketsBytes: 64 * MiB,
  socketMessageBytes: 4096,
  /** Bytes of all answers and events together that clients have not read yet; then connections are closed. */
  unsentBytes: 256 * MiB,
  /** Bytes of an answer that a client of another server reads: more than Parley or a gateway sends. */
  clientAnswerBytes: 32 * MiB,
  /** Characters of the answers of a batch together; one answer always fits, those past it are errors. */
  batchAnswerLength: 8 * MiB,
  /** Bytes of messages that the archive holds in memory together; a single one always fits. */
  archivedBytes: 8 * MiB,
  /** Characters of an error's message or hint, and of a text that it repeats. */
  errorLength: 2000,
  echoLength: 200,

  /** Seconds of the longest time that a setting or parameter may name: ten years. */
  durationSeconds: 10 * 365 * 86_400,
} as const

/** A number of bytes as people read it, such as 4 MiB. */
export const sizeInWords = (bytes: number): string =>
  bytes % MiB === 0 ? `${bytes / MiB} MiB` : bytes % 1024 === 0 ? `${bytes / 1024} KiB` : `${bytes} bytes`
