/** The metrics of a server as a scraper reads them. */
export interface Scrape {
  /** Every value by its name and labels. */
  readonly values: ReadonlyMap<string, number>
  /** The names that are declared, whether they have a value yet or not; of a histogram, those of its parts too. */
  readonly names: ReadonlySet<string>
}

export async function scrape(url: string, headers: Record<string, string> = {}): Promise<Scrape> {
  const response = await fetch(url, { headers })
  if (response.status !== 200) throw new Error(`${url} answered ${response.status}`)
  const lines = (await response.text()).split('\n').filter((line) => line !== '')
  const values = new Map<string, number>()
  const names = new Set<string>()
  for (const line of lines) {
    const [, name, type] = /^# TYPE (\S+) (\S+)/.exec(line) ?? []
    if (name !== undefined) names.add(name)
    if (type === 'histogram') for (const part of ['bucket', 'sum', 'count']) names.add(`${name}_${part}`)
    if (!line.startsWith('#'))
      values.set(line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1)))
  }
  return { values, names }
}
