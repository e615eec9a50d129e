/** Settings of tool calls: how long one may wait, and how they are counted. */
import { flag, number, seconds, setting } from './kinds.ts'

export const toolSettings = {
  MAX_WAIT_SECONDS: setting({
    default: '50',
    says: 'The longest that a call waits for something to happen. Many clients give up after 60 s.',
    parse: number({ min: 0, max: 86400, whole: false }),
  }),
  TOOLS_LOG_ENABLED: setting({
    default: 'true',
    says: 'Whether calls of tools are noted: a line each at LOG_LEVEL debug, and in `resource://tooling/recent`.',
    parse: flag,
  }),
  TOOL_METRICS_EMIT_ENABLED: setting({
    default: 'false',
    says: 'Whether the log tells from time to time how often each tool was called and failed.',
    parse: flag,
  }),
  TOOL_METRICS_EMIT_INTERVAL_SECONDS: setting({
    default: '60',
    says: 'How often it does.',
    parse: seconds,
  }),
} as const
