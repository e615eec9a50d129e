/** The order of the files in a run: the slow ones first, lest one of them be the last, with a core beside it that has nothing to do. */
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The longest first, by a run that had no other to go by; "The slowest files" at the end of a run tells what belongs here. */
const slow = [
  'test/scenarios/postgres-faults.test.ts',
  'test/access/access.test.ts',
  'test/browser/looks.test.ts',
  'test/scenarios/archive-kill.test.ts',
  'test/access/doors.test.ts',
  'test/scenarios/nodes.test.ts',
  'test/browser/live.test.ts',
  'test/scenarios/archive-nodes.test.ts',
  'test/scenarios/housekeeping.test.ts',
  'test/scenarios/checkpoint-kill.test.ts',
  'test/operations/tampered.test.ts',
  'test/doors/web/sealed.test.ts',
  'test/browser/hostile.test.ts',
  'test/guard/commits.test.ts',
  'test/doors/mcp/conformance.test.ts',
  'test/archive/attachments.test.ts',
  'test/guard/places.test.ts',
  'test/scenarios/mail-crowd.test.ts',
  'test/operations/transfer-files.test.ts',
  'test/scenarios/bus-model.test.ts',
  'test/access/sight.test.ts',
  'test/browser/keys.test.ts',
  'test/launcher.test.ts',
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
