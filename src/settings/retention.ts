/** Settings of how long things are kept: the retention report, which counts old mail and deletes none, and the feed of changes. */
import { flag, list, number, seconds, setting } from './kinds.ts'

export const retentionSettings = {
  RETENTION_REPORT_ENABLED: setting({
    default: 'false',
    says: 'Whether Parley regularly logs, for each project, the number of messages, of old messages and of full inboxes. Nothing is deleted.',
    parse: flag,
  }),
  RETENTION_REPORT_INTERVAL_SECONDS: setting({
    default: '3600',
    says: 'Seconds between two retention reports.',
    parse: seconds,
  }),
  RETENTION_MAX_AGE_DAYS: setting({
    default: '180',
    says: 'Days after which the retention report counts a message as old.',
    parse: number({ min: 1, max: 36500 }),
  }),
  RETENTION_IGNORE_PROJECT_PATTERNS: setting({
    default: 'demo,test*,testproj*,testproject,backendproj*,frontendproj*',
    says: 'Projects that the retention report leaves out, separated by commas: slugs with or without the hash at the end, where `*` stands for anything.',
    parse: list,
  }),
  CHANGES_RETENTION_SECONDS: setting({
    default: '86400',
    says: 'Seconds that the feed of changes is kept at least, for those who follow it.',
    parse: seconds,
  }),
} as const
