/** Parley's promises, a line each. Every line needs a passing test that `verifies` it; docs/internals/requirements.md is made from it. */

import { access } from './requirements/access.ts'
import { archive } from './requirements/archive.ts'
import { asking } from './requirements/asking.ts'
import { attachments } from './requirements/attachments.ts'
import { bridge } from './requirements/bridge.ts'
import { client } from './requirements/client.ts'
import { contacts } from './requirements/contacts.ts'
import { feed } from './requirements/feed.ts'
import { finding } from './requirements/finding.ts'
import { firstHour } from './requirements/first-hour.ts'
import { guard } from './requirements/guard.ts'
import { housekeeping } from './requirements/housekeeping.ts'
import { http } from './requirements/http.ts'
import { hub } from './requirements/hub.ts'
import { identities } from './requirements/identities.ts'
import { identity } from './requirements/identity.ts'
import { init } from './requirements/init.ts'
import { leases } from './requirements/leases.ts'
import { machines } from './requirements/machines.ts'
import { manyNodes } from './requirements/many-nodes.ts'
import { messages } from './requirements/messages.ts'
import { observability } from './requirements/observability.ts'
import { operations } from './requirements/operations.ts'
import { pages } from './requirements/pages.ts'
import { people } from './requirements/people.ts'
import { post } from './requirements/post.ts'
import { projects } from './requirements/projects.ts'
import { running } from './requirements/running.ts'
import { scenarios } from './requirements/scenarios.ts'
import { settings } from './requirements/settings.ts'
import { signIn } from './requirements/sign-in.ts'
import { steering } from './requirements/steering.ts'
import { tooling } from './requirements/tooling.ts'
import { waking } from './requirements/waking.ts'

export interface Requirement {
  /** `<spec>.<subject>.<promise>` */
  readonly id: string
  /** Where it is promised. */
  readonly spec: string
  readonly says: string
}

// biome-ignore format: a table, one promise a line
export const requirements = [
  ...access,
  ...archive,
  ...hub,
  ...identity,
  ...machines,
  ...firstHour,
  ...manyNodes,

  // The mailbox door
  { id: 'mailbox.agent.no-set-up', spec: 'mailbox.md §5', says: 'An agent needs no set-up: its first call makes it.' },
  { id: 'mailbox.agent.path', spec: 'mailbox.md §4.2', says: 'The caller is the agent that the path names.' },
  { id: 'mailbox.store.created', spec: 'mailbox.md §6.1', says: 'The database is made on the first start.' },
  { id: 'mailbox.store.kept', spec: 'mailbox.md §5', says: 'A sent message is still there after a restart, also after kill -9.' },
  { id: 'mailbox.send.delivered', spec: 'mailbox.md §4.2', says: 'A message comes to the agent it names, with the name of its sender.' },
  { id: 'mailbox.send.verbatim', spec: 'mailbox.md §4.1', says: 'A message arrives as it was sent, to the last character of any script.' },
  { id: 'mailbox.send.name', spec: 'mailbox.md §4.2', says: 'A recipient that is empty or not URL-safe is refused.' },
  { id: 'mailbox.send.id', spec: 'mailbox.md §4.2', says: 'A send answers with the id it was given, or with one made for it.' },
  { id: 'mailbox.pop.once', spec: 'mailbox.md §4.1', says: 'Nobody is given the same message twice, however many ask at once.' },
  { id: 'mailbox.pop.own', spec: 'mailbox.md §4.2', says: 'An agent takes its own mail only.' },
  { id: 'mailbox.pop.empty', spec: 'mailbox.md §4.2', says: 'An empty mailbox answers null.' },
  { id: 'mailbox.done.smoke', spec: 'mailbox.md §6.3', says: 'The two curl lines of the smoke test return the ping.' },
  { id: 'mailbox.done.loops', spec: 'mailbox.md §6.4', says: 'Two loops exchange 20 messages and lose none.' },
  { id: 'mailbox.done.same-id', spec: 'DECISIONS mailbox 2', says: 'Loops that answer under one msg_id, or by reply_to, lose nothing in 50 turns with retries.' },
  { id: 'mailbox.done.load', spec: 'mailbox.md §6.5', says: 'At 50 requests a second and more nothing is delivered twice.' },

  // The mailbox door, where its specification leaves something open
  { id: 'mailbox.pop.fifo', spec: 'DECISIONS mailbox 1', says: 'Messages come in the order in which they were stored, whatever the clock says.' },
  { id: 'mailbox.send.idempotent', spec: 'DECISIONS mailbox 2', says: 'The same text by the same sender, recipient and msg_id is a retry: the same id, and nothing is stored.' },
  { id: 'mailbox.send.other-words', spec: 'DECISIONS mailbox 2', says: 'Another text under a used msg_id is another message of the thread, under an id of its own.' },
  { id: 'mailbox.send.shared-id', spec: 'DECISIONS mailbox 2', says: 'Another sender may use the same msg_id, and both messages arrive.' },
  { id: 'mailbox.send.reply', spec: 'DECISIONS mailbox 2', says: 'An answer under the id of a message joins its thread, whoever made the id and whichever door it came by.' },
  { id: 'mailbox.send.answer', spec: 'DECISIONS mailbox 2', says: 'Such an answer counts as one for contact rules, for ask, and for a session of the post door.' },
  { id: 'mailbox.send.reply-to', spec: 'DECISIONS mailbox 2', says: 'reply_to answers a message of the recipient without touching retries; any other id is an error.' },
  { id: 'mailbox.check.shape', spec: 'DECISIONS mailbox 3', says: 'A message has id, from, content and created, and a lease only if one was asked for.' },
  { id: 'mailbox.wait.wakes', spec: 'DECISIONS mailbox 3', says: 'check_mail with wait_seconds answers as soon as a message arrives.' },
  { id: 'mailbox.check.after', spec: 'DECISIONS mailbox 3', says: 'after acknowledges the message handled last, and the description says why to pass it.' },
  { id: 'mailbox.lease.returns', spec: 'DECISIONS mailbox 3', says: 'Leased mail that is not acknowledged in time returns to the head of the mailbox.' },
  { id: 'mailbox.lease.unread', spec: 'DECISIONS mailbox 3', says: 'Leased mail counts as unread until it is acknowledged.' },
  { id: 'mailbox.lease.safe', spec: 'DECISIONS mailbox 3', says: 'With a lease nothing is lost, not even by kill -9 between the pop and the answer.' },
  { id: 'mailbox.ack.repeated', spec: 'DECISIONS mailbox 3', says: 'ack_mail answers that it is acknowledged, and the same when repeated.' },
  { id: 'mailbox.ack.late', spec: 'DECISIONS mailbox 3', says: 'A late ack_mail holds as long as nobody else was given the message.' },
  { id: 'mailbox.ack.invented', spec: 'DECISIONS mailbox 3', says: 'ack_mail with a lease that was never given for the message says so.' },
  { id: 'mailbox.ack.expired', spec: 'DECISIONS mailbox 3', says: 'Once somebody else was given the message, ack_mail is LEASE_EXPIRED.' },
  { id: 'mailbox.pop.put-back', spec: 'DECISIONS mailbox 3', says: 'A pop whose answer cannot be handed over (closed socket, cancelled call) is undone.' },
  { id: 'mailbox.depth.refused', spec: 'DECISIONS mailbox 4', says: 'A full mailbox refuses the next message with MAILBOX_FULL, names the agent, and drops nothing.' },
  { id: 'mailbox.depth.retry', spec: 'DECISIONS mailbox 4', says: 'A retry of a stored message succeeds also when the mailbox is full.' },
  { id: 'mailbox.metrics.latency', spec: 'DECISIONS mailbox 5', says: 'The time from created to taken is in /metrics.' },

  // All doors
  { id: 'all.mcp.conformance', spec: 'DESIGN The stack', says: 'Every scenario passes that the protocol’s own suite requires of servers, in both eras.' },
  { id: 'all.contents.kinds', spec: 'DESIGN The stack', says: 'A tool may answer images, sounds and resources; they travel as they are.' },
  { id: 'all.prompts.got', spec: 'DESIGN The stack', says: 'The prompts of a door are listed, and got with their arguments.' },
  { id: 'all.dialogue.asks', spec: 'DESIGN The stack', says: 'A tool asks its client on the stream of its call, or by its result where the era has that.' },
  { id: 'all.dialogue.able', spec: 'DESIGN The stack', says: 'A client is asked only what it said it can be asked.' },
  { id: 'all.dialogue.own', spec: 'DESIGN The stack', says: 'Only the session that was asked answers; a request state holds for its call, unchanged, for an hour.' },
  { id: 'all.dialogue.lost', spec: 'DESIGN The stack', says: 'A call that asks, or whose client leaves without an answer, has done nothing.' },
  { id: 'all.logging.level', spec: 'hub.md Don’t stream logs', says: 'A tool’s notes go to the log of a client that asked for their level, and to nobody else.' },
  { id: 'all.result.twice', spec: 'DECISIONS all 1', says: 'A result has structuredContent, and its first text is the JSON of it.' },
  { id: 'all.result.wrapped', spec: 'DECISIONS all 1', says: 'A value that is not always an object travels as {"result": …}, always.' },
  { id: 'all.schema.flat', spec: 'DECISIONS all 2', says: 'Advertised schemas are flat objects without $ref, root unions or lists of types.' },
  { id: 'all.schema.keywords', spec: 'DECISIONS all 2', says: 'FastMCP 2 reads all fields of a result, words of Python such as from and unnamed ones among them.' },
  { id: 'all.schema.null', spec: 'DECISIONS all 2', says: 'An argument that is null counts as absent.' },
  { id: 'all.schema.short', spec: 'DECISIONS all 2', says: 'Tool names are plain and descriptions short.' },
  { id: 'all.annotations.every-tool', spec: 'DECISIONS all 3', says: 'Every tool says whether it reads, destroys, or may be repeated.' },
  { id: 'all.wait.any-number', spec: 'DECISIONS all 4', says: 'wait_seconds takes any number from 0 on, fractions too.' },
  { id: 'all.wait.cut', spec: 'DECISIONS all 4', says: 'No call waits longer than MAX_WAIT_SECONDS.' },
  { id: 'all.wait.progress', spec: 'DECISIONS all 4', says: 'A waiting call reports progress every 5 s to a client that gave a progress token.' },
  { id: 'all.wait.empty', spec: 'DECISIONS all 4', says: 'A wait that ends empty is a normal result.' },
  { id: 'all.plain.fields', spec: 'mail.md Python client example', says: 'For clients that know only JSON-RPC, the fields of a result stand beside its content too.' },
  { id: 'all.plain.json', spec: 'DECISIONS all 5', says: 'A lone JSON-RPC call without initialize, session or Accept is answered in plain JSON.' },
  { id: 'all.short-form.value', spec: 'DECISIONS all 5', says: '{"tool": …, "args": …} is answered with the bare value.' },
  { id: 'all.short-form.error', spec: 'DECISIONS all 1', says: 'The short form answers an error with its code, message, hint and HTTP status.' },
  { id: 'all.names.pattern', spec: 'DECISIONS all 6', says: 'A name is 1 to 100 letters, digits, "_" or "-", beginning with a letter or digit.' },
  { id: 'all.names.case', spec: 'DECISIONS all 6', says: 'Names are compared without case and shown as first written.' },
  { id: 'all.names.hub', spec: 'DESIGN Callers', says: 'No new agent is called Parley, and nobody acts as it, at any door: the hub signs its notices with it.' },
  { id: 'all.names.broadcast', spec: 'DECISIONS mail 17', says: 'No new agent is called all, everyone, team or broadcast, at any door: nobody could write to it.' },
  { id: 'all.names.alike', spec: 'DECISIONS all 22', says: 'Names that differ only in width, form or invisible characters are one name.' },
  { id: 'all.names.lookalikes', spec: 'DECISIONS all 22', says: 'A new name that looks like another of its project, in whatever script, is refused at every door.' },
  { id: 'all.names.reserved', spec: 'DECISIONS all 22', says: 'No look-alike of HumanOverseer gets a name at any door: marks, spaces, "-" and "_" do not count.' },
  { id: 'all.names.migrated', spec: 'DECISIONS all 22', says: 'Names stored before are compared alike; of two that became one, one gets a number.' },
  { id: 'all.recipients.created', spec: 'DECISIONS all 7', says: 'Sending to an agent never seen makes its mailbox, and no later call renames it.' },
  { id: 'all.size.request', spec: 'DECISIONS all 8', says: 'A request of more than 4 MiB is 413.' },
  { id: 'all.size.body', spec: 'DECISIONS all 8', says: 'A body may have 1 MiB of UTF-8; one more byte is an error, and nothing is cut.' },
  { id: 'all.size.client-id', spec: 'DECISIONS all 8', says: 'An id given by a client has 1 to 128 visible characters.' },
  { id: 'all.size.text', spec: 'DECISIONS all 8', says: 'Empty bodies, U+0000 and lone surrogates are refused.' },
  { id: 'all.arguments.tool-error', spec: 'DECISIONS all 10', says: 'Bad arguments are a tool error INVALID_ARGUMENT in our own words, with a hint.' },
  { id: 'all.arguments.hint', spec: 'DECISIONS all 10', says: 'The hint about a wrong argument describes that argument, or names the nearest one, instead of listing all.' },
  { id: 'all.arguments.text', spec: 'DECISIONS all 10', says: '"1", "true" and "High" are taken where a number, a boolean or a choice such as an importance is meant.' },
  { id: 'all.arguments.unknown-name', spec: 'DECISIONS all 10', says: 'An argument of unknown name is refused, not passed over.' },
  { id: 'all.rpc.unknown', spec: 'DECISIONS all 10', says: 'An unknown tool or method is a JSON-RPC error.' },
  { id: 'all.rpc.malformed', spec: 'DECISIONS all 10', says: 'Malformed JSON is 400 with -32700.' },
  { id: 'all.http.content-type', spec: 'DECISIONS all 10', says: 'A wrong content type is 415.' },
  { id: 'all.http.foreign', spec: 'DECISIONS all 10', says: 'A foreign Origin or Host is 403.' },
  { id: 'all.http.proxies', spec: 'DECISIONS all 10', says: 'Limits count the client that a trusted proxy names; from anybody else the header is not believed.' },
  { id: 'all.http.agent-name', spec: 'DECISIONS all 10', says: 'An invalid agent name in the path is 400.' },
  { id: 'all.credentials.bearer', spec: 'DECISIONS all 11', says: 'The token is taken from Authorization: Bearer or from X-API-Key.' },
  { id: 'all.credentials.wrong', spec: 'DECISIONS all 11', says: 'Wrong credentials are 401, and so are none where they are needed.' },
  { id: 'all.credentials.local', spec: 'DESIGN Callers', says: 'A caller on this machine needs none, unless the setting says so.' },
  { id: 'all.metrics.tools', spec: 'DECISIONS all 14', says: '/metrics counts and times tool calls by door, tool and outcome.' },
  { id: 'all.metrics.unread', spec: 'DECISIONS all 14', says: '/metrics shows the unread mail and the process defaults.' },
  { id: 'all.sessions.anywhere', spec: 'DECISIONS all 15', says: 'A session id is honoured by every process, also after a restart.' },
  { id: 'all.sessions.refused', spec: 'DECISIONS all 15', says: 'A session that is forged, ended, too old, or used by another caller or at another path is 404.' },
  { id: 'all.sessions.idle', spec: 'DECISIONS all 15', says: 'The memory of an idle session is freed, and made anew on its next call.' },
  { id: 'all.tools.always-load', spec: 'DECISIONS all 16', says: 'The tools every agent needs at once ask clients not to defer them.' },
  { id: 'all.project.chosen', spec: 'DECISIONS all 17', says: 'A call works in the project commons, or in the one that ?project= names.' },
  { id: 'all.lists.more', spec: 'DECISIONS all 20', says: 'A list says whether there is more (has_more), beside result where it is wrapped.' },
  { id: 'all.lists.onwards', spec: 'DECISIONS all 20', says: 'At every door has_more comes with the place, the call or the option that goes on.' },
  { id: 'mail.lists.onwards', spec: 'DECISIONS all 20', says: 'At the mail door has_more comes with the place or the call that goes on.' },
  { id: 'all.lists.forms', spec: 'DECISIONS all 20', says: 'Where a list is asked for, one text and a list written as JSON in a text are taken too.' },
  { id: 'all.names.address', spec: 'DECISIONS all 20', says: 'An agent may be named Name@project wherever an agent is named.' },
  { id: 'all.project.unknown', spec: 'DECISIONS all 21', says: 'An unknown ?project= is made by its absolute path only; any other name is PROJECT_NOT_FOUND.' },
  { id: 'all.calls.nothing-made', spec: 'DECISIONS all 21', says: 'A call that fails or only reads makes no project and no agent, at any door.' },
  { id: 'all.runtime.none-needed', spec: 'DECISIONS all 18', says: 'On Node 24 or newer nothing is downloaded.' },
  { id: 'all.runtime.shared', spec: 'DECISIONS all 18', says: 'Processes that start at once share one download, which stays in the checkout or package if that is writable.' },
  { id: 'all.runtime.cache', spec: 'DECISIONS all 18', says: 'Where the package cannot be written, the download is kept in the cache of the user.' },
  { id: 'all.start.signals', spec: 'DECISIONS all 18', says: '`npm start` ends with the shell that npm has started for it, on systems without `exec` too.' },
  { id: 'all.runtime.hand-over', spec: 'DECISIONS all 18', says: 'The launcher passes on signals, stdin, stdout and exit codes.' },
  { id: 'all.runtime.explained', spec: 'DESIGN The stack', says: 'Where no Node can be fetched, one message says what to install, and the exit code is 1.' },
  { id: 'all.package.runs', spec: 'DESIGN The stack', says: 'The tarball, installed into an empty prefix with an empty HOME, serves and speaks MCP on stdin.' },
  { id: 'all.package.docs', spec: 'DESIGN The stack', says: 'The package carries the docs that its messages name, and its manual page.' },
  { id: 'all.package.size', spec: 'DESIGN The stack', says: 'An installed package takes at most 60 MB with its optional package, the one for pictures.' },
  { id: 'all.package.no-sharp', spec: 'DESIGN The stack', says: 'Without the optional package a picture is refused with a message that names it; everything else works.' },
  { id: 'cli.health.code', spec: 'mail.md Operational notes', says: '`parley health` ends with 0 if the server is ready, and with 1 if not.' },
  { id: 'deploy.files.settings', spec: 'post.md 11', says: 'Every variable in the files of `deploy/` is a setting of Parley.' },
  { id: 'deploy.install.dry', spec: 'DESIGN The stack', says: '`deploy/install.sh --dry-run` says what it would do, and makes nothing.' },
  { id: 'deploy.install.runs', spec: 'DESIGN The stack', says: '`deploy/install.sh` installs, makes a token that it shows masked, starts a server and says how to undo it.' },
  { id: 'deploy.install.system', spec: 'DESIGN The stack', says: '`deploy/install.sh --system` makes a service with its own settings, keeps those, and takes it out again.' },
  { id: 'all.build.missing', spec: 'DECISIONS Packages', says: 'The launcher runs what was built; where nothing was, one message says how to build it.' },
  { id: 'all.build.loud', spec: 'DECISIONS Packages', says: 'A build that fails makes npm ci fail; a package that came built needs no tools.' },
  { id: 'all.build.dev', spec: 'DECISIONS Packages', says: 'npm run dev serves the source, restarts when it changes, and builds it again.' },
  { id: 'all.mcp.eras', spec: 'DESIGN The stack', says: 'Clients of the protocol with sessions and of the one without are served on one URL.' },
  { id: 'all.errors.internal', spec: 'DESIGN Errors', says: 'An unforeseen fault is INTERNAL: logged whole, shown without detail.' },
  { id: 'all.engines.alike', spec: 'DESIGN Two engines', says: 'SQLite and PostgreSQL behave alike.' },
  { id: 'all.wait.other-process', spec: 'DESIGN One wait', says: 'A message stored by one process wakes those who wait at another.' },

  ...http,
  ...signIn,

  // The client of the post door, and its bridge
  ...client,

  // The bus
  { id: 'bus.tools.all', spec: 'bus.md §4.2', says: 'The tools of the spec are there in both eras, each with an output schema.' },
  { id: 'bus.join.needed', spec: 'bus.md §2.3', says: 'A name lasts as long as its process: after a restart, as before the first join, sync is AGENT_NOT_JOINED.' },
  { id: 'bus.cursor.durable', spec: 'bus.md §2.3', says: 'How far a peer has read survives its process, also kill -9.' },
  { id: 'bus.schema.version', spec: 'bus.md §3.0', says: 'The meta table and ping say schema version 6.' },
  { id: 'bus.schema.mismatch', spec: 'bus.md §3.0', says: 'On a database it does not know every tool but ping is DB_SCHEMA_MISMATCH, and the file stays as it is.' },
  { id: 'bus.schema.loss', spec: 'DECISIONS bus 1', says: 'On a database that lost acknowledged changes every tool but ping says what is missing and what to do.' },
  { id: 'bus.message.columns', spec: 'bus.md §3.1', says: 'A message has every column of the spec, its metadata as it was given.' },
  { id: 'bus.message.seq', spec: 'bus.md §3.1', says: 'seq counts from 1 in each topic, without a gap, also after refusals and crashes.' },
  { id: 'bus.errors.not-found', spec: 'bus.md §4.1', says: 'A topic that does not exist is TOPIC_NOT_FOUND at every tool.' },
  { id: 'bus.errors.closed', spec: 'bus.md §4.1', says: 'Writing to a closed topic is TOPIC_CLOSED; reading it goes on.' },
  { id: 'bus.sync.both-ways', spec: 'bus.md §4.3', says: 'One sync sends and receives.' },
  { id: 'bus.sync.order', spec: 'bus.md §4.3', says: 'Messages are received in the order of seq, each once.' },
  { id: 'bus.sync.self', spec: 'bus.md §4.3', says: "One's own messages come only with include_self." },
  { id: 'bus.sync.advance', spec: 'bus.md §4.3', says: 'auto_advance moves the cursor to the highest seq received, and is the default.' },
  { id: 'bus.sync.manual', spec: 'bus.md §4.3', says: 'Without auto_advance only ack_through moves the cursor.' },
  { id: 'bus.sync.ack-bounds', spec: 'bus.md §4.3', says: "ack_through lies between 0 and the topic's highest seq." },
  { id: 'bus.sync.wait', spec: 'bus.md §4.3', says: 'A sync with nothing to return waits until a message comes or its time is up.' },
  { id: 'bus.sync.status', spec: 'bus.md §4.3', says: 'status is ready, timeout or empty.' },
  { id: 'bus.sync.unknown-project', spec: 'DECISIONS all 21', says: 'A sync in a project with a mistyped name is an error, and leaves no project behind.' },
  { id: 'bus.presence.window', spec: 'bus.md §4.4', says: 'topic_presence lists who synced within the window, at most limit of them.' },

  // The bus, where its specification leaves something open
  { id: 'bus.sync.shape', spec: 'DECISIONS bus 2', says: 'A sync answers with the fields decided, and topic_status.' },
  { id: 'bus.times.seconds', spec: 'DECISIONS bus 2', says: 'Times are unix seconds as floats.' },
  { id: 'bus.outbox.forms', spec: 'DECISIONS bus 3', says: 'outbox may be a list, one object, or either as JSON in a string; only the list is advertised.' },
  { id: 'bus.outbox.whole', spec: 'DECISIONS bus 3', says: 'If one of at most 50 messages is bad, none is sent and no cursor moves.' },
  { id: 'bus.sync.atomic', spec: 'DECISIONS bus 3', says: 'Sending, acknowledging and reading in one call are one transaction.' },
  { id: 'bus.outbox.duplicate', spec: 'DECISIONS bus 4', says: 'A repeated client_message_id returns the original with duplicate true, and takes no seq.' },
  { id: 'bus.ack.alone', spec: 'DECISIONS bus 5', says: 'ack_through with auto_advance is INVALID_ARGUMENT.' },
  { id: 'bus.ack.forward', spec: 'DECISIONS bus 5', says: 'ack_through only moves forward, before the read, also over a message of the same call.' },
  { id: 'bus.sync.max-items', spec: 'DECISIONS bus 6', says: 'max_items is 1 to 200, 50 by default; has_more tells that there is more.' },
  { id: 'bus.outbox.reply', spec: 'DECISIONS bus 6', says: 'reply_to must be a message of the topic.' },
  { id: 'bus.wait.cut', spec: 'DECISIONS bus 7', says: 'A sync waits at most MAX_WAIT_SECONDS, whatever it asks for.' },
  { id: 'bus.wait.closed', spec: 'DECISIONS bus 7', says: 'Closing a topic wakes those who wait on it: empty, and nothing moved.' },
  { id: 'bus.ping.answer', spec: 'DECISIONS bus 8', says: 'ping answers ok and the versions, joined or not.' },
  { id: 'bus.topic.create', spec: 'DECISIONS bus 8', says: 'topic_create reuses the newest open topic of a name, or makes a new one, named by its id if it has no name.' },
  { id: 'bus.topic.once', spec: 'DECISIONS bus 8', says: 'Processes that create the same name at once get one topic.' },
  { id: 'bus.topic.list', spec: 'DECISIONS bus 8', says: 'topic_list shows open, closed or all topics with their details, the newest first.' },
  { id: 'bus.topic.resolve', spec: 'DECISIONS bus 8', says: 'topic_resolve finds the newest open topic of a name, and a closed one only if allowed.' },
  { id: 'bus.topic.close', spec: 'DECISIONS bus 8', says: 'Closing twice keeps the first time and reason, and warns ALREADY_CLOSED.' },
  { id: 'bus.topic.join', spec: 'DECISIONS bus 8', says: 'topic_join takes exactly one of topic_id and name; a closed topic by id, or by name if allowed.' },
  { id: 'bus.wait.untouched', spec: 'DECISIONS bus 10', says: 'A cancelled or broken wait moves no cursor, and a wait writes nothing.' },
  { id: 'bus.names.alike', spec: 'DECISIONS bus 11', says: 'Names of topics and peers are trimmed, compared without case, shown as first written.' },
  { id: 'bus.presence.sync', spec: 'DECISIONS bus 11', says: 'Joining alone makes nobody present; who waits is present all the time.' },
  { id: 'bus.http.session', spec: 'DECISIONS bus 11', says: 'Over HTTP a session keeps its joins, also at another process, until it is ended.' },
  { id: 'bus.http.url-name', spec: 'DECISIONS bus 11', says: 'Over HTTP ?agent= keeps its joins without any session.' },
  { id: 'bus.http.key', spec: 'DECISIONS bus 11', says: 'Over HTTP the key of an agent, or a token that names it, keeps its joins, with a session or without.' },
  { id: 'bus.http.nobody', spec: 'DECISIONS bus 11', says: 'A call that has no session, no ?agent= and no key of an agent is told how to name itself.' },
  { id: 'bus.sizes.limits', spec: 'DECISIONS all 8', says: 'Bodies up to 65,536 characters, types 32, names 255 and 64; longer is an error and nothing is cut.' },
  { id: 'bus.names.visible', spec: 'DECISIONS all 22', says: 'A name on the bus holds no invisible characters, but for those inside an emoji.' },
  { id: 'bus.names.scripts', spec: 'DECISIONS all 22', says: 'A name on the bus has one script, or Latin with Han and Kana, Hangul or Bopomofo.' },

  // The bus beyond its spec
  { id: 'bus.name.in-use', spec: 'bus, beyond the spec', says: 'A second live process under one name is AGENT_NAME_IN_USE, with free names, unless it has the token.' },
  { id: 'bus.name.silent', spec: 'bus, beyond the spec', says: 'A name is free once no stream or call of its session was open for 60 s, also without DELETE.' },
  { id: 'bus.name.gone', spec: 'bus, beyond the spec', says: 'A name whose process or session is gone can be taken again.' },
  { id: 'bus.cursor.reset', spec: 'bus, beyond the spec', says: 'cursor_reset sets a cursor back or forward, within the topic.' },
  { id: 'bus.topic.reopen', spec: 'bus, beyond the spec', says: 'topic_reopen opens a closed topic, and warns ALREADY_OPEN if it was.' },
  { id: 'bus.stdio.protocol', spec: 'bus, beyond the spec', says: 'stdout carries the protocol only, the log goes to stderr, and the end of stdin ends the process.' },
  { id: 'bus.stdio.anywhere', spec: 'bus, beyond the spec', says: 'It runs with almost no environment in any working folder.' },
  { id: 'bus.processes.load', spec: 'bus, beyond the spec', says: 'However many processes write at once, none is told DB_BUSY, and nobody misses or repeats a message.' },
  { id: 'bus.processes.killed', spec: 'bus, beyond the spec', says: 'A process that dies in the middle leaves nothing half-done behind.' },
  { id: 'bus.processes.mixed', spec: 'bus, beyond the spec', says: 'Bus processes and a server on one storage folder see and wake each other.' },
  { id: 'bus.search.finds', spec: 'bus, what users ask for', says: 'messages_search finds what was said in all topics or in one, as soon as it is sent.' },
  { id: 'bus.search.literal', spec: 'DECISIONS mail 9', says: 'No search raises: what is not of the query language is looked for as it stands.' },
  { id: 'bus.search.topics-only', spec: 'bus, what users ask for', says: 'A search on the bus shows nobody’s mail and no other project’s topics.' },

  // Starting, serving, stopping
  { id: 'serve.start.banner', spec: 'DESIGN Interface', says: 'When it is ready it prints its address and how to connect a client, and warns of nothing.' },
  { id: 'serve.start.address', spec: 'DESIGN Interface', says: 'It listens on 127.0.0.1:8765, or where --host, --port or the settings say.' },
  { id: 'serve.start.port-taken', spec: 'DESIGN Interface', says: 'A port that is taken is one clear message and exit code 1.' },
  { id: 'serve.start.newer-database', spec: 'DECISIONS bus 1', says: 'A database made by a newer Parley, or not by Parley, is left as it is and named in the message.' },
  { id: 'serve.start.secret', spec: 'DECISIONS post 8', says: 'Without SECRET_KEY one is made on the first start and kept with mode 600.' },
  { id: 'serve.paths.slash', spec: 'DESIGN The doors', says: 'Every path works with and without a trailing slash.' },
  { id: 'serve.config.sources', spec: 'DECISIONS all 19', says: 'Settings come from the environment, PARLEY_ENV_FILE, a checkout or ~/.parley; never the working folder.' },
  { id: 'serve.config.faults', spec: 'DESIGN Interface', says: 'Bad settings are one message that lists every fault, and exit code 2.' },
  { id: 'serve.health.live', spec: 'DESIGN Interface', says: 'GET /health/liveness answers while the process lives.' },
  { id: 'serve.health.ready', spec: 'DESIGN Interface', says: 'GET /health/readiness answers 200 only while the database does.' },
  { id: 'serve.store.silent', spec: 'DESIGN Nothing lost', says: 'A PostgreSQL that falls silent is given up; after a failover calls and wake-ups are back within 15 s.' },
  { id: 'serve.store.faults', spec: 'DESIGN Nothing lost', says: 'PostgreSQL killed, silent, terminated, locked or cut: nothing acknowledged is lost, and it recovers itself.' },
  { id: 'serve.store.exhausted', spec: 'DESIGN Errors', says: 'Callers wait for a connection to PostgreSQL, then come back later: DB_BUSY with a hint, 503 with Retry-After.' },
  { id: 'serve.store.trips', spec: 'DESIGN Two engines, one SQL', says: 'On PostgreSQL a send to agents that are open to its sender, and a pop, wait for one answer each.' },
  { id: 'serve.store.batches', spec: 'DESIGN Two engines, one SQL', says: 'On PostgreSQL sends that come at once share a commit; one that fails fails alone.' },
  { id: 'serve.store.unhurried', spec: 'DESIGN Two engines, one SQL', says: 'Migrations may take as long as they need, and wait for those of another node.' },
  { id: 'serve.store.gone', spec: 'DESIGN Nothing lost', says: 'A SQLite file deleted or replaced: no write is acknowledged, it is not ready, and the log has one line.' },
  { id: 'serve.store.checkpoint', spec: 'DESIGN Nothing lost', says: 'Server, bus and `doctor` take a SQLite file whose process died at any step of a checkpoint, whole.' },
  { id: 'serve.store.acknowledged', spec: 'DESIGN Nothing lost', says: 'Beside a SQLite file is the number of the last acknowledged change of all processes, never ahead of the disk.' },
  { id: 'serve.store.loss', spec: 'DESIGN Nothing lost', says: 'Acknowledged changes that a start misses are told in log, `doctor` and readiness; nothing is touched.' },
  { id: 'serve.store.accept-loss', spec: 'DESIGN Nothing lost', says: 'A store that lost changes goes on with `--accept-loss` alone, or after a restore or a clearing.' },
  { id: 'serve.store.damaged', spec: 'DESIGN Errors', says: 'Reading a damaged file is STORAGE_FAILED, in the words that a write is answered with.' },
  { id: 'serve.store.unflushed', spec: 'DESIGN Nothing lost', says: 'After a failed flush of SQLite every further write is refused; log and readiness say so until a restart.' },
  { id: 'serve.store.full', spec: 'DESIGN Nothing lost', says: 'A full disk is STORAGE_FAILED to a write, and not ready.' },
  { id: 'serve.store.chaos', spec: 'DESIGN Nothing lost', says: 'Two servers and four bus processes that are killed at random lose and double nothing they acknowledged.' },
  { id: 'serve.nodes.killed', spec: 'DESIGN Nothing lost', says: 'A node that is killed loses nothing it acknowledged: clients go on at another, each message once, in order.' },
  { id: 'serve.nodes.told', spec: 'DESIGN One wait', says: 'Waits, sockets, subscriptions and pages at one node are told what is sent at another.' },
  { id: 'serve.nodes.deaf', spec: 'DESIGN One wait', says: 'A node that was cut off from wake-ups lets all who wait or listen there look once it hears again.' },
  { id: 'serve.nodes.unannounced', spec: 'DESIGN One wait', says: 'A node that is gone may have announced nothing of its last commits: the others look, within some ten seconds.' },
  { id: 'serve.nodes.database', spec: 'DESIGN Nothing lost', says: 'PostgreSQL killed under two nodes and started again: each acknowledged message arrives once, in order.' },
  { id: 'serve.wait.monotonic', spec: 'DESIGN One wait', says: 'A wait ends after its time, whatever becomes of the time of day meanwhile.' },
  { id: 'serve.wait.database', spec: 'DESIGN One wait', says: 'A wait goes on though the database is away for a while; one that is away at the end is said so.' },
  { id: 'serve.wait.crowd', spec: 'DESIGN One wait', says: 'Of many who wait for mail of one agent a message wakes only a few, and no message is left behind.' },
  { id: 'serve.memory.arenas', spec: 'DESIGN Interface', says: 'A server on Linux starts with two arenas of malloc and gives large pieces back at once, unless told otherwise.' },
  { id: 'serve.memory.rest', spec: 'DESIGN Interface', says: 'A server gives the memory of a busy time back once it rests.' },
  { id: 'serve.stop.signals', spec: 'DESIGN Interface', says: 'SIGTERM and SIGINT end it in good order with exit code 0.' },
  { id: 'serve.stop.drain', spec: 'mail.md Operational notes', says: 'Draining, it is not ready, serves what still comes, and ends each connection with its answer.' },
  { id: 'serve.stop.waiting', spec: 'DESIGN Interface', says: 'Those who wait when it stops are answered, and lose nothing.' },
  { id: 'serve.log.secrets', spec: 'DECISIONS post 2', says: 'No token, key or message body reaches the log.' },

  // The command line: `parley topics`
  { id: 'cli.topics.named', spec: 'DESIGN The doors', says: 'A topic is named by its id or by its name: the newest open one, else a closed one.' },
  { id: 'cli.topics.list', spec: 'DESIGN The doors', says: 'List shows id, name, status, messages, peers and last activity of the topics of a project.' },
  { id: 'cli.topics.show', spec: 'DESIGN The doors', says: 'Show prints the newest messages in order, or those before a given one.' },
  { id: 'cli.topics.watch', spec: 'DESIGN One wait', says: 'Watch prints what is there and then, at once, what other processes write, until Ctrl-C.' },
  { id: 'cli.topics.presence', spec: 'DESIGN The doors', says: 'Presence shows who reads a topic and how far each has come.' },
  { id: 'cli.topics.export', spec: 'DESIGN The doors', says: 'Export writes a whole topic as Markdown or as lines of JSON, to a file or standard output.' },
  { id: 'cli.topics.rename', spec: 'DESIGN The doors', says: 'Rename gives a topic another name, and those who follow it learn of it.' },
  { id: 'cli.topics.delete', spec: 'DESIGN The doors', says: 'Delete leaves nothing of a topic, and those who wait on it are told that it is gone.' },
  { id: 'cli.topics.delete-asks', spec: 'DECISIONS mail 15', says: 'Delete says what goes and how much, and does nothing without --force or a typed yes.' },
  { id: 'cli.topics.delete-aside', spec: 'DESIGN Two engines', says: 'A large topic is deleted in parts, so that others go on; a deletion cut off is finished later.' },
  { id: 'cli.topics.send', spec: 'DESIGN The doors', says: 'Send writes into a topic and wakes its peers, without joining, holding a name or moving a cursor.' },
  { id: 'cli.topics.json', spec: 'DESIGN The doors', says: 'Every command answers with JSON where --json is given.' },
  { id: 'cli.topics.harmless', spec: 'DECISIONS all 9', says: 'The text of an agent cannot steer a terminal or pass for a line of Parley itself.' },
  { id: 'cli.topics.terminal', spec: 'DESIGN The doors', says: 'On a terminal tables fit it and times are relative; elsewhere both are plain.' },
  { id: 'cli.topics.errors', spec: 'DESIGN Errors', says: 'An error is a message with a hint and exit code 1; wrong usage is exit code 2.' },

  // The feed of changes
  ...feed,

  // Mail
  ...identities,
  ...messages,
  ...attachments,
  ...contacts,
  ...bridge,
  ...guard,
  ...init,
  ...leases,
  ...finding,
  ...tooling,
  ...waking,
  ...asking,
  ...housekeeping,
  ...operations,
  ...running,
  ...observability,
  ...steering,
  ...people,
  ...projects,
  ...pages,

  // The post door
  ...post,
  ...scenarios,
  ...settings,
] as const satisfies readonly Requirement[]

export type RequirementId = (typeof requirements)[number]['id']
