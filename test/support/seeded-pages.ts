/** Every page of a hub, by name, with the message, thread and agent that a seeded one has. */

interface Listed {
  readonly projects: readonly { readonly slug: string; readonly agents: number }[]
  readonly messages: readonly {
    readonly id: number
    readonly project: string
    readonly thread_id: string | null
    readonly subject: string
    readonly from: string
  }[]
}

export async function pagesOf(url: string): Promise<Record<string, string>> {
  const answer = await fetch(`${url}/mail?limit=200`, { headers: { accept: 'application/json' } })
  const { projects, messages } = (await answer.json()) as Listed
  const [project] = projects.toSorted((a, b) => b.agents - a.agents)
  const plan = messages.find(({ subject }) => subject.startsWith('Plan'))
  const slug = plan?.project ?? project?.slug ?? 'commons'
  const message = plan ?? messages.find((one) => one.project === slug && one.subject !== '')
  const thread = message?.thread_id ?? String(message?.id ?? 1)
  const agent = message?.from.split('@')[0] ?? 'nobody'
  const part = encodeURIComponent
  return {
    home: '/mail',
    'unified-inbox': '/mail/unified-inbox',
    projects: '/mail/projects',
    agents: '/mail/agents',
    needs: '/mail/attention',
    attention: '/mail/attention?view=urgent',
    search: '/mail/search?q=orders',
    jump: '/mail/jump?q=or',
    'compose-to-all': '/mail/overseer/compose',
    invitations: '/mail/invitations',
    project: `/mail/${slug}`,
    'search-project': `/mail/${slug}/search?q=the&order=time`,
    inbox: `/mail/${slug}/inbox/${part(agent)}`,
    message: `/mail/${slug}/message/${message?.id ?? 1}`,
    threads: `/mail/${slug}/threads`,
    thread: `/mail/${slug}/thread/${part(thread)}?summary=1`,
    reservations: `/mail/${slug}/file_reservations`,
    contacts: `/mail/${slug}/contacts`,
    attachments: `/mail/${slug}/attachments`,
    activity: `/mail/${slug}/activity?window=7d`,
    compose: `/mail/${slug}/overseer/compose`,
    login: '/mail/login',
    missing: '/mail/nowhere',
  }
}
