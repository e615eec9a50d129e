/** Settings of tool calls: how long and how many may wait, and how they are counted. */
import { flag, number, seconds, setting } from './kinds.ts'

export const toolSettings = {
  MAX_WAIT_SECONDS: setting({
    default: '50',
    says: 'Most seconds that a tool call waits for something to happen; a longer wait is shortened. Many clients give up after 60 s.',
    parse: number({ min: 0, max: 86400, whole: false }),
  }),
  WAITS_PER_AGENT: setting({
    default: '1000',
    says: 'Most calls of one agent that may wait at once in a process; the next one that would wait is refused with RATE_LIMITED.',
    parse: number({ min: 1, max: 1_000_000 }),
  }),
  WAITS_TOTAL: setting({
    default: '20000',
    says: 'Most calls of all agents that may wait at once in a process; the next one that would wait is refused with RATE_LIMITED.',
    parse: number({ min: 1, max: 1_000_000 }),
  }),
  TASKS_PER_AGENT: setting({
    default: '200',
    says: 'Most tasks of one agent that may go on at once; the next one is refused with RATE_LIMITED.',
    parse: number({ min: 1, max: 1_000_000 }),
  }),
  TOOLS_LOG_ENABLED: setting({
    default: 'true',
    says: 'Whether each tool call is noted, in `resource://tooling/recent` and as a line in the log at LOG_LEVEL debug.',
    parse: flag,
  }),
  TOOL_METRICS_EMIT_ENABLED: setting({
    default: 'false',
    says: 'Whether Parley regularly logs the number of calls and failures of each tool.',
    parse: flag,
  }),
  TOOL_METRICS_EMIT_INTERVAL_SECONDS: setting({
    default: '60',
    says: 'Seconds between two logs of the calls and failures of each tool.',
    parse: seconds,
  }),
} as const
