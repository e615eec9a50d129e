/** The official client over HTTP, in both eras. */
import { describe } from 'vitest'
import { hastyClock } from './engine.ts'
import { clientSuite } from './suite.ts'
import { connect, eras, useFixture } from './use.ts'

describe.each(eras)('over HTTP, protocol %s', (era) => {
  clientSuite(era, async () => {
    const { url } = await useFixture({ clock: hastyClock })
    return (await connect(url, era)).client
  })
})
