/** Settings of tool calls: how long and how many may wait, and how they are counted. */
import { flag, number, seconds } from './kinds.ts'

export const toolSettings = {
  MAX_WAIT_SECONDS: number(50, { min: 0, max: 86400, whole: false }).says(
    'Most seconds that a tool call waits for something to happen; a longer wait is shortened. Many clients give up after 60 s.',
  ),
  WAITS_PER_AGENT: number(1000, { min: 1, max: 1_000_000 }).says(
    'Most calls, waiters and runs of one agent that may wait at once in a process; the next one that would wait is refused with RATE_LIMITED.',
  ),
  WAITS_TOTAL: number(20000, { min: 1, max: 1_000_000 }).says(
    'Most calls of all agents that may wait at once in a process; the next one that would wait is refused with RATE_LIMITED.',
  ),
  TASKS_PER_AGENT: number(200, { min: 1, max: 1_000_000 }).says(
    'Most tasks of one agent that may run at once; the next one is refused with RATE_LIMITED.',
  ),
  TOOLS_LOG_ENABLED: flag(true).says(
    'Whether each tool call is noted, in `resource://tooling/recent` and as a line in the log at LOG_LEVEL debug.',
  ),
  TOOL_METRICS_EMIT_ENABLED: flag(false).says(
    'Whether Parley regularly logs the number of calls and failures of each tool.',
  ),
  TOOL_METRICS_EMIT_INTERVAL_SECONDS: seconds(60).says(
    'Seconds between two logs of the calls and failures of each tool.',
  ),
}
