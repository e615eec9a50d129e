/** Settings of how long things are kept: old mail, which is reported or moved out, and the feed of changes. */
import { flag, list, number, seconds } from './kinds.ts'

export const retentionSettings = {
  RETENTION_REPORT_ENABLED: flag(false).says(
    'Whether Parley regularly logs, for each project, the number of messages, of old messages and of full inboxes. Nothing is deleted.',
  ),
  RETENTION_REPORT_INTERVAL_SECONDS: seconds(3600).says('Seconds between two retention reports.'),
  RETENTION_MAX_AGE_DAYS: number(180, { min: 1, max: 36500 }).says(
    'Days after which a message counts as old: for the retention report, and for moving old mail out.',
  ),
  RETENTION_APPLY_ENABLED: flag(false).says(
    'Whether a server moves old mail out by itself, every RETENTION_REPORT_INTERVAL_SECONDS, as `parley retention apply` does: threads without a message for RETENTION_MAX_AGE_DAYS, all of it read and acknowledged, go into files in STORAGE_ROOT/retention.',
  ),
  RETENTION_IGNORE_PROJECT_PATTERNS: list('demo,test*,testproj*,testproject,backendproj*,frontendproj*').says(
    'Projects whose mail the retention report and moving out leave alone, separated by commas: slugs with or without the hash at the end, where `*` stands for anything.',
  ),
  CHANGES_RETENTION_SECONDS: seconds(86400).says(
    'Seconds that the feed of changes is kept at least, so that followers can catch up.',
  ),
}
