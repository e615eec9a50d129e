/** Settings of the retention report, which counts old mail and deletes none. */
import { flag, list, number, seconds, setting } from './kinds.ts'

export const retentionSettings = {
  RETENTION_REPORT_ENABLED: setting({
    default: 'false',
    says: 'Whether the log tells from time to time how much mail each project holds, how much of it is old, and whose inbox is full. Nothing is deleted.',
    parse: flag,
  }),
  RETENTION_REPORT_INTERVAL_SECONDS: setting({
    default: '3600',
    says: 'How often it does.',
    parse: seconds,
  }),
  RETENTION_MAX_AGE_DAYS: setting({
    default: '180',
    says: 'From what age mail counts as old.',
    parse: number({ min: 1, max: 36500 }),
  }),
  RETENTION_IGNORE_PROJECT_PATTERNS: setting({
    default: 'demo,test*,testproj*,testproject,backendproj*,frontendproj*',
    says: 'Projects (by slug, with or without the hash at its end; `*` is anything) that the report leaves out, parted by commas.',
    parse: list,
  }),
} as const
