/** The traces of messages: each is kept with the trace of its sender's request, and linked from the span that delivers it (serve.traces.message). */
import { isRecorded, linkTo } from '../../base/tracing.ts'
import { deleteTraces, listTraceparents } from '../../store/messages/traces.ts'
import type { Chore } from '../hub/chores.ts'
import { type Hub, reader } from '../hub/hub.ts'

/** Links the span under way to the requests that sent these messages. */
export async function linkSenders(hub: Hub, messageIds: readonly number[]): Promise<void> {
  if (!isRecorded() || messageIds.length === 0) return
  // A link that is missing is no reason to lose mail that was taken.
  const found = await listTraceparents(reader(hub), messageIds).catch(() => [])
  for (const traceparent of found) linkTo(traceparent)
}

/** No store of traces has them for longer, as a rule. */
const keptMs = 7 * 86_400_000

const rowsPerCommit = 1000

export const traceChore: Chore = {
  name: 'traces',
  everyMs: 3_600_000,
  async run(hub, job) {
    const before = hub.clock.now() - keptMs
    while ((await job.batch((tx) => deleteTraces(tx, before, rowsPerCommit))) === rowsPerCommit);
  },
}
