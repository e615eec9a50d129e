/** The order of the files in a run: the slow ones first, lest one of them be the last, with a core beside it that has nothing to do. */
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The longest first, by a run that had no other to go by; "The slowest files" at the end of a run tells what belongs here. */
const slow = [
  'test/browser/looks.test.ts',
  'test/scenarios/postgres-faults.test.ts',
  'test/operations/transfer-files.test.ts',
  'test/archive/verify.test.ts',
  'test/access/access.test.ts',
  'test/serve/stop.test.ts',
  'test/archive/attachments.test.ts',
  'test/scenarios/nodes.test.ts',
  'test/package.test.ts',
  'test/scenarios/checkpoint-kill.test.ts',
  'test/docs/shell.test.ts',
  'test/waking/wait.test.ts',
  'test/operations/backup-load.test.ts',
  'test/bridge/programs.test.ts',
  'test/scenarios/first-hour.test.ts',
  'test/guard/places.test.ts',
  'test/launcher.test.ts',
  'test/scenarios/answers.test.ts',
  'test/operations/backup.test.ts',
  'test/browser/live.test.ts',
  'test/guard/commits.test.ts',
  'src/core/contacts/judging.test.ts',
  'test/scenarios/mail-crowd.test.ts',
  'test/scenarios/archive-nodes.test.ts',
  'test/browser/keys.test.ts',
  'test/doors/hub/updates.test.ts',
  'test/scenarios/bus-model.test.ts',
  'test/projects/merging.test.ts',
  'test/serve/workers.test.ts',
  'test/init/corpus.test.ts',
  'test/access/doors.test.ts',
  'test/doors/web/pages.test.ts',
  'test/scenarios/attachment-grounds.test.ts',
  'test/doors/cli/people-commands.test.ts',
  'test/waking/attach.test.ts',
  'test/scenarios/attachment-attacks.test.ts',
  'test/doors/web/sealed.test.ts',
  'src/core/search/projection.test.ts',
  'test/archive/files.test.ts',
  'test/scenarios/two-processes.test.ts',
  'test/doors/mcp/conformance.test.ts',
  'test/serve/storage.test.ts',
  'test/scenarios/mail-walkthrough.test.ts',
  'test/browser/lines.test.ts',
  'test/install.test.ts',
  'test/scenarios/housekeeping.test.ts',
  'test/operations/clear.test.ts',
  'test/scenarios/kill.test.ts',
  'test/serve/start.test.ts',
  'src/archive/repository.test.ts',
  'test/access/sight.test.ts',
  'src/core/messages/attachments.test.ts',
]

export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = slow.findIndex((file) => moduleId.endsWith(`/${file}`))
      return at < 0 ? slow.length : at
    }
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other))
  }
}
