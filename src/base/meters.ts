/** Counters, gauges and histograms, and the text in which Prometheus reads them. */

/** https://prometheus.io/docs/instrumenting/exposition_formats/ */
export const textType = 'text/plain; version=0.0.4; charset=utf-8'

/** The figures of a process: the numbers of each value, by the name of its family and by its labels. */
export type MeterSnapshot = Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>

/** The figures of another process; of one that has ended, only its counters. */
export interface MeasuredElsewhere {
  readonly snapshot: MeterSnapshot
  readonly ended?: boolean
}

/** How the values of several processes of one server become one: they add up, or all see the same and the largest counts. */
type Across = 'sum' | 'most'

interface Naming<Label extends string> {
  readonly name: string
  readonly help: string
  /** The labels that tell the values of one name apart. */
  readonly labels?: readonly Label[]
}

/** One value: of a counter or a gauge. */
class Value {
  value = 0

  inc(by = 1): void {
    this.value += by
  }

  set(value: number): void {
    this.value = value
  }

  get used(): boolean {
    return this.value !== 0
  }

  get numbers(): readonly number[] {
    return [this.value]
  }

  take([value = 0]: readonly number[], across: Across): void {
    this.value = across === 'sum' ? this.value + value : Math.max(this.value, value)
  }

  lines(name: string, labels: string): string[] {
    return [`${name}${braced(labels)} ${this.value}`]
  }
}

/** How many values were at most so large, for each of some bounds. */
class Distribution {
  readonly #bounds: readonly number[]
  /** For each bound, and one more for what is above all of them. */
  readonly #counts: number[]
  #sum = 0

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0)
  }

  observe(value: number): void {
    let at = 0
    while (at < this.#bounds.length && value > (this.#bounds[at] ?? 0)) at++
    this.#counts[at] = (this.#counts[at] ?? 0) + 1
    this.#sum += value
  }

  get used(): boolean {
    return this.#counts.some((count) => count > 0)
  }

  get numbers(): readonly number[] {
    return [...this.#counts, this.#sum]
  }

  take(numbers: readonly number[]): void {
    for (const at of this.#counts.keys()) this.#counts[at] = (this.#counts[at] ?? 0) + (numbers[at] ?? 0)
    this.#sum += numbers[this.#counts.length] ?? 0
  }

  lines(name: string, labels: string): string[] {
    let count = 0
    const buckets = [...this.#bounds, '+Inf'].map((bound, at) => {
      count += this.#counts[at] ?? 0
      return `${name}_bucket${braced(joined(`le="${bound}"`, labels))} ${count}`
    })
    return [...buckets, `${name}_sum${braced(labels)} ${this.#sum}`, `${name}_count${braced(labels)} ${count}`]
  }
}

/** All values of one name. */
class Family<One extends Value | Distribution, Label extends string> {
  readonly #type: string
  readonly #naming: Naming<Label>
  readonly #create: () => One
  readonly #across: Across
  readonly #members = new Map<string, One>()

  constructor(type: string, naming: Naming<Label>, create: () => One, across: Across = 'sum') {
    this.#type = type
    this.#naming = naming
    this.#create = create
    this.#across = across
  }

  get name(): string {
    return this.#naming.name
  }

  get snapshot(): MeterSnapshot[string] {
    return Object.fromEntries([...this.#members].map(([key, { numbers }]) => [key, numbers]))
  }

  /** The one with these values of the labels, in the order of their names; looked up once, then kept by who counts. */
  labels(...values: string[]): One {
    const key = (this.#naming.labels ?? []).map((label, at) => `${label}="${escaped(values[at] ?? '')}"`).join(',')
    const known = this.#members.get(key)
    if (known !== undefined) return known
    const made = this.#create()
    this.#members.set(key, made)
    return made
  }

  /** Forgets all values: for gauges whose labels come and go. */
  clear(): void {
    this.#members.clear()
  }

  /** Of those with labels, the ones that have counted: most tools are never called. */
  text(others: readonly MeasuredElsewhere[]): string {
    const { name, help, labels = [] } = this.#naming
    const members = [...this.#joined(others)].filter(([, member]) => labels.length === 0 || member.used)
    const lines = members.flatMap(([key, member]) => member.lines(name, key))
    return [`# HELP ${name} ${help}`, `# TYPE ${name} ${this.#type}`, ...lines, ''].join('\n')
  }

  #joined(others: readonly MeasuredElsewhere[]): Map<string, One> {
    const counted = others.filter(({ ended }) => !ended || this.#type !== 'gauge')
    if (counted.length === 0) return this.#members
    const joined = new Map<string, One>()
    for (const measured of [this.snapshot, ...counted.map(({ snapshot }) => snapshot[this.name] ?? {})])
      for (const [key, numbers] of Object.entries(measured)) {
        const one = joined.get(key) ?? this.#create()
        joined.set(key, one)
        one.take(numbers, this.#across)
      }
    return joined
  }
}

type AnyFamily = Pick<Family<Value | Distribution, string>, 'name' | 'snapshot' | 'text'>

/** Everything that is measured, in the order in which it was named. */
export class Meters {
  readonly #families: AnyFamily[] = []
  readonly #refreshers: (() => void | Promise<void>)[] = []

  counter<Label extends string>(naming: Naming<Label>): Family<Value, Label> {
    return this.#add(new Family('counter', naming, () => new Value()))
  }

  gauge<Label extends string>(naming: Naming<Label>, across: Across = 'most'): Family<Value, Label> {
    return this.#add(new Family('gauge', naming, () => new Value(), across))
  }

  histogram<Label extends string>(naming: Naming<Label>, bounds: readonly number[]): Family<Distribution, Label> {
    return this.#add(new Family('histogram', naming, () => new Distribution(bounds)))
  }

  /** Called before the text is made. */
  onRead(refresh: () => void | Promise<void>): void {
    this.#refreshers.push(refresh)
  }

  /** The figures of other processes of the same server; none, where it is one process. */
  elsewhere: (own: MeterSnapshot) => Promise<readonly MeasuredElsewhere[]> = async () => []

  async snapshot(): Promise<MeterSnapshot> {
    for (const refresh of this.#refreshers) await refresh()
    return Object.fromEntries(this.#families.map(({ name, snapshot }) => [name, snapshot]))
  }

  /** Of this process, with what is measured elsewhere. */
  async text(): Promise<string> {
    const others = await this.elsewhere(await this.snapshot())
    return this.#families.map((family) => family.text(others)).join('\n')
  }

  #add<T extends AnyFamily>(family: T): T {
    this.#families.push(family)
    return family
  }
}

const joined = (...labels: string[]): string => labels.filter((label) => label !== '').join(',')
const braced = (labels: string): string => (labels === '' ? '' : `{${labels}}`)
const escaped = (value: string): string => value.replace(/[\\"\n]/g, (found) => (found === '\n' ? '\\n' : `\\${found}`))
