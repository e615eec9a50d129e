/** The tables of README.md and docs/waking.md that show how fast real clients are woken: from what `npm run clients -- --wake --keep` kept. */
import { shortly, type Wakes } from '../clients/wake/results.ts'
import { between, table } from './markdown.ts'

const nameOf = ({ client, version }: Wakes[number]): string => `${client} ${version}`

const where = (wakes: Wakes): string => [...new Set(wakes.map(({ machine }) => machine))].join('; ')

/** Medians alone, because README is short. */
export const renderReadmeWakes = (readme: string, wakes: Wakes): string =>
  between(readme, {
    ...{ name: 'wakes', file: 'README.md' },
    text: table(
      ['[idle client](docs/waking.md)', `woken in ms (${[...new Set(wakes.map(({ day }) => day))].join(', ')})`],
      wakes.map((one) => [nameOf(one), String(one.median)]),
    ),
  })

export const renderWaking = (page: string, wakes: Wakes): string =>
  between(page, {
    ...{ name: 'wakes', file: 'docs/waking.md' },
    text: [
      table(
        ['client', 'way in', 'message → model, ms: median (least–most)', 'wakes', 'on'],
        wakes.map((one) => [nameOf(one), one.way, shortly(one), String(one.count), one.day]),
      ),
      `Measured on ${where(wakes)}.`,
    ].join('\n\n'),
  })
