/** Attached files themselves: raster images are shown, everything else is only ever saved (web.files.saved). */
import { Readable } from 'node:stream'
import type { FastifyInstance, RouteShorthandOptions } from 'fastify'
import { HubError } from '../../base/errors.ts'
import { readAttachment } from '../../core/pages/attachments.ts'
import type { Params } from './page.ts'
import type { Visits } from './visits.ts'

const raster = /^image\/(png|jpeg|gif|webp)$/
const wellFormed = /^(?:originals\/)?[0-9a-f]{2}\/[0-9a-f]{40}\.[a-z0-9]{1,10}$/

export function addFiles(
  scope: FastifyInstance,
  { visits, route }: { visits: Visits; route: RouteShorthandOptions },
): void {
  scope.get('/mail/:project/attachments/*', route, async (request, reply) => {
    const { hub, caller } = await visits.admitted(request, reply)
    const { project = '', '*': path = '' } = request.params as Params
    if (!wellFormed.test(path)) throw new HubError('NOT_FOUND', 'There is no such file.')
    const file = await readAttachment(hub, caller, project, `attachments/${path}`)
    const shown = raster.test(file.mediaType)
    // The name is made from a hash: it needs no quoting.
    const name = path.split('/').at(-1) ?? 'file'
    return reply
      .headers({
        // Without scripts, whatever it is.
        'content-security-policy': "default-src 'none'; sandbox",
        'cache-control': 'private, max-age=3600',
        'content-type': shown ? file.mediaType : 'application/octet-stream',
        'content-length': file.bytes,
        'content-disposition': shown ? 'inline' : `attachment; filename="${name}"`,
      })
      .send(Readable.from(file.parts))
  })
}
