/** The error of an export that cannot be imported. */
import { HubError } from '../../base/errors.ts'

export const broken = (why: string, cause?: unknown): HubError =>
  new HubError('INVALID_ARGUMENT', `The export cannot be imported: ${why.replace(/\.$/, '')}.`, {
    hint: 'Nothing was imported. Export it again with `parley export --format json`.',
    cause,
  })
