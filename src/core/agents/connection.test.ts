/** The caller of a connection, on both engines: the credential rules, and nothing is told of foreign agents. */
import { expect } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { openTestHub, registered } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { commons } from '../../base/names.ts'
import { agentCaller, local, namedCaller, operator, tokenCaller } from '../access/callers.ts'
import { send } from '../messages/send.ts'
import { findProjectCalled } from '../projects/projects.ts'
import { findSelf, findStanding, isSameProject, projectOfCall, selfInFolder } from './connection.ts'
import { createKey } from './keys.ts'
import { register } from './registration.ts'

const project = '/srv/code/app'

eachEngine('A connection', (open) => {
  const start = async () => {
    const hub = await openTestHub(await (await open()).connect())
    const { profile } = await register(hub, local, { project, name: 'GreenCastle' })
    await register(hub, local, { project, name: 'BlueLake' })
    await register(hub, local, { project: '/srv/code/other', name: 'RedStone' })
    return { hub, green: agentCaller(profile), slug: profile.project }
  }

  verifies('identity.credential.rules', 'that contradicts a key or a token is refused', async () => {
    const { hub, green, slug } = await start()
    const unmade = { name: 'Newcomer', project: '/srv/code/new' }
    const token = namedCaller('named:newcomer', { agentId: 0, projectId: 0, unmade })
    expect(await findSelf(hub, green, {})).toEqual({ name: 'GreenCastle', project })
    expect(await findSelf(hub, green, { name: 'greencastle', project: slug })).toMatchObject({ name: 'GreenCastle' })
    expect(await findSelf(hub, token, { name: 'NEWCOMER', project: '/srv/code/new/' })).toEqual(unmade)
    for (const [caller, said] of [
      [green, { name: 'BlueLake' }],
      [green, { project: commons }],
      [green, { project: '/srv/code/other' }],
      [green, { project: '/srv/code/nowhere' }],
      [token, { name: 'GreenCastle' }],
      [token, { project }],
    ] as const)
      await expect(findSelf(hub, caller, said)).rejects.toMatchObject({ code: 'FORBIDDEN', reason: 'contradicted' })
    // A foreign project and a missing one answer alike.
    const refusal = (other: string) => findSelf(hub, green, { project: other }).catch(({ message }) => message)
    expect(await refusal('/srv/code/other')).toBe(await refusal('/srv/code/nowhere'))
    await hub.close()
  })

  verifies('identity.credential.home', 'with a key is of its project wherever none is told', async () => {
    const { hub, green, slug } = await start()
    expect(await projectOfCall(hub, green, undefined)).toBe(slug)
    expect(await projectOfCall(hub, green, commons)).toBe(commons)
    expect(await projectOfCall(hub, local, undefined)).toBe(commons)
    // A folder moves no owner of a key, and makes nothing for anybody.
    const self = { name: 'GreenCastle', project }
    expect(await selfInFolder(hub, green, self, '/srv/code/other')).toEqual(self)
    expect(await selfInFolder(hub, local, {}, '/srv/code/made/')).toMatchObject({ project: '/srv/code/made' })
    const inside = await selfInFolder(hub, local, {}, `${project}/src`)
    expect(inside).toMatchObject({ project, note: expect.stringContaining('lies in the project') })
    // `parley connect` names its working folder on the URL.
    expect(await findSelf(hub, local, { project: `${project}/src` })).toEqual(inside)
    expect(await findProjectCalled(hub, '/srv/code/made')).toBeUndefined()
    expect(await isSameProject(hub, green, slug, project)).toBe(true)
    expect(await isSameProject(hub, local, 'app', '/srv/code/other')).toBe(false)
    await hub.close()
  })

  verifies('identity.name.foreign', 'without the key of the agent that it names is told nothing of it', async () => {
    const { hub, green } = await start()
    const draft = { to: [{ name: 'GreenCastle' }], subject: 'Plan', body: 'hello' }
    await send(hub, registered('BlueLake', project), draft)
    const said = { name: 'greencastle', project }
    const mine = { name: 'GreenCastle', project, is: 'there', unread: 1 }
    expect(await findStanding(hub, local, said)).toEqual(mine)
    await createKey(hub, { ...registered('GreenCastle', project), caller: operator })
    expect(await findStanding(hub, local, said)).toEqual({ ...mine, is: 'foreign', unread: 0 })
    expect(await findStanding(hub, tokenCaller('token:w', true), said)).toMatchObject({ is: 'foreign', unread: 0 })
    expect(await findStanding(hub, green, {})).toEqual(mine)
    expect(await findStanding(hub, local, { name: 'Nobody', project })).toMatchObject({ is: 'new', unread: 0 })
    expect(await findStanding(hub, local, { name: 'Nobody', project: '/srv/none' })).toMatchObject({ is: 'new' })
    expect(await findStanding(hub, local, { name: 'Nobody' })).toBeUndefined()
    expect(await findProjectCalled(hub, '/srv/none')).toBeUndefined()
    await hub.close()
  })

  verifies('identity.name.kept', 'keeps the name that a person set, in every mode', async () => {
    for (const names of ['coerce', 'strict', 'always_auto'] as const) {
      const hub = await openTestHub(await (await open()).connect(), { rules: { names } })
      const { profile, generated } = await register(hub, local, { project, name: 'alice', settled: true })
      expect([profile.name, generated]).toEqual(['alice', undefined])
      await expect(register(hub, local, { project, name: 'аlice', settled: true })).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
      })
      await hub.close()
    }
  })
})
