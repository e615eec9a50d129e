/** The order of the files in a run: the slow ones first, lest one of them be the last, with a core beside it that has nothing to do. */
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The longest first, by a run that had no other to go by; "The slowest files" at the end of a run tells what belongs here. */
const slow = [
  'test/browser/looks.test.ts',
  'test/access/access.test.ts',
  'test/scenarios/checkpoint-kill.test.ts',
  'test/scenarios/nodes.test.ts',
  'test/access/doors.test.ts',
  'test/scenarios/postgres-faults.test.ts',
  'test/browser/live.test.ts',
  'test/scenarios/archive-kill.test.ts',
  'test/projects/merging.test.ts',
  'test/browser/hostile.test.ts',
  'test/guard/places.test.ts',
  'test/archive/attachments.test.ts',
  'test/guard/commits.test.ts',
  'test/archive/verify.test.ts',
  'test/doors/web/sealed.test.ts',
  'test/scenarios/first-hour.test.ts',
  'test/access/sight.test.ts',
  'test/docs/shell.test.ts',
  'test/launcher.test.ts',
  'test/scenarios/archive-nodes.test.ts',
  'test/serve/stop.test.ts',
  'test/operations/backup-load.test.ts',
  'test/scenarios/mail-crowd.test.ts',
  'test/doors/hub/updates.test.ts',
  'test/scenarios/kill.test.ts',
  'test/browser/keys.test.ts',
  'src/core/contacts/judging.test.ts',
  'test/scenarios/two-processes.test.ts',
  'test/waking/wait.test.ts',
  'test/serve/storage.test.ts',
  'src/core/search/projection.test.ts',
  'test/operations/transfer-files.test.ts',
  'test/scenarios/answers.test.ts',
  'test/scenarios/guessing.test.ts',
  'test/doors/cli/people-commands.test.ts',
  'test/init/corpus.test.ts',
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
