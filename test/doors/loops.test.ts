/** Two agents in a loop of wakes, as the doors show it: to the agents, at the command line, on the page and in the metrics. */
import { describe, expect } from 'vitest'
import { parleyCommand } from '../support/cli.ts'
import { connectMail, type Message } from '../support/mail.ts'
import { eras, mailbox, serveHere, share } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const parley = share((later) => serveHere({ env: { LOOP_MAX_TURNS: '4' }, later }))

const wait = async (agent: string) =>
  (await fetch(`${parley().url}/hooks/wait?agent=${agent}&session=${agent}&client=test&seconds=0`, { method: 'POST' }))
    .status === 200

/** Answers whenever it is woken; returns how often one was. */
async function answerWakes(first: string, second: string, most = 20): Promise<number> {
  let woken = 0
  for (let [me, other] = [first, second]; woken < most && (await wait(me)); [me, other] = [other, me]) {
    woken++
    const mail = await mailbox(parley(), me).check()
    await mailbox(parley(), me).send(other, 'pong', undefined, mail?.id)
  }
  return woken
}

describe.each(eras)('In %s', (era) => {
  verifies('waking.loop.people', 'a pause is shown wherever people look, and ended by them', async () => {
    const [ann, bob] = [`ann-${era}`, `bob-${era}`]
    for (const name of [ann, bob]) await mailbox(parley(), name).check()
    await mailbox(parley(), ann).send(bob, 'ping')
    expect(await answerWakes(bob, ann)).toBe(4)

    const door = await connectMail(parley(), era)
    const inbox = () =>
      door.call<(Message & { hops?: number })[]>('fetch_inbox', { project_key: 'commons', agent_name: ann })
    expect(await inbox()).toMatchObject([{ from: 'Parley', subject: 'Waking is paused' }, { hops: 3 }, { hops: 1 }])
    const receipt = await door.call('send_message', {
      project_key: 'commons',
      sender_name: bob,
      to: [ann],
      subject: 'Re: ping',
      body_md: 'pong',
      thread_id: (await inbox())[1]?.thread_id,
    })
    expect(receipt).toMatchObject({ deliveries: [{ reach: { text: expect.stringContaining('waking is paused') } }] })

    const { stdout } = await parleyCommand(parley(), ['loops', 'list', '--json'])
    const [loop] = JSON.parse(stdout).loops
    expect(loop).toMatchObject({ project: 'commons', agents: [ann, bob] })
    const page = await fetch(`${parley().url}/mail/attention`)
    expect(await page.text()).toContain('paused loop')
    const json = await fetch(`${parley().url}/mail/attention`, { headers: { accept: 'application/json' } })
    expect(await json.json()).toMatchObject({ loops: [{ id: loop.id }] })
    expect(await (await fetch(`${parley().url}/metrics`)).text()).toMatch(/^parley_loops_paused_total [1-9]/m)

    expect(await wait(ann)).toBe(false)
    const resumed = await parleyCommand(parley(), ['loops', 'resume', loop.id])
    expect(resumed).toMatchObject({ code: 0, stdout: expect.stringContaining('Wakes go on') })
    await expect.poll(() => wait(ann), { timeout: 10_000 }).toBe(true)
    expect(await parleyCommand(parley(), ['loops', 'resume', loop.id])).toMatchObject({ code: 1 })
  })

  verifies('waking.loop.counts', "a person's prompt in a session ends the chain, a pointer does not", async () => {
    const [ann, bob] = [`eve-${era}`, `dan-${era}`]
    for (const name of [ann, bob]) await mailbox(parley(), name).check()
    await mailbox(parley(), ann).send(bob, 'ping')
    const hops = async () =>
      (
        await (
          await connectMail(parley(), era)
        ).call<{ hops?: number }[]>('fetch_inbox', {
          project_key: 'commons',
          agent_name: ann,
          limit: 1,
        })
      )[0]?.hops
    const prompt = (text: string) =>
      fetch(`${parley().url}/hooks/claude/UserPromptSubmit?agent=${bob}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ session_id: bob, prompt: text }),
      })
    expect(await wait(bob)).toBe(true)
    await prompt('[parley] 1 new message')
    await mailbox(parley(), bob).send(ann, 'pong')
    expect(await hops()).toBe(1)
    await prompt('Thank you, now do something else.')
    await expect
      .poll(async () => {
        await mailbox(parley(), bob).send(ann, 'pong')
        return hops()
      })
      .toBeUndefined()
  })
})
