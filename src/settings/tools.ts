/** Settings of tool calls: how long one may wait, and how they are counted. */
import { flag, number, seconds, setting } from './kinds.ts'

export const toolSettings = {
  MAX_WAIT_SECONDS: setting({
    default: '50',
    says: 'Most seconds that a tool call waits for something to happen; a longer wait is shortened. Many clients give up after 60 s.',
    parse: number({ min: 0, max: 86400, whole: false }),
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
