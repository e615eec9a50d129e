/** Names that are easy to remember and to tell apart: two capitalised words, as in `GreenCastle`. */

// Each pair of them must read well: kind, plain to spell, no make of anything. The tests hold the rules that can be checked.
export const adjectives = words(`
  Amber Ancient Azure Bold Brave Breezy Bright Bronze Calm Candid Careful Cheerful Clear Clever Cobalt Copper Coral Cozy
  Crimson Curious Daring Dapper Eager Early Emerald Fair Faithful Fearless Fluent Fond Fresh Friendly Gentle Glad Golden
  Graceful Grand Green Happy Hardy Hazel Helpful Honest Humble Indigo Jade Jolly Joyful Keen Kind Lively Loyal Lucid
  Lucky Lunar Mellow Merry Mighty Misty Modest Neat Nimble Noble Olive Patient Placid Polite Proud Purple Quick Quiet
  Radiant Ready Rosy Rustic Scarlet Serene Silent Sincere Snowy Solar Steady Sturdy Sunny Swift Tender Tidy Tranquil
  Trusty Upbeat Violet Vivid Warm Wise Witty Blue
`)

export const nouns = words(`
  Anchor Aspen Badger Bamboo Basin Beacon Beaver Birch Bridge Brook Canyon Castle Cedar Cliff Comet Cottage Cove Crane
  Creek Dale Deer Dolphin Dune Eagle Falcon Fern Field Finch Fjord Forest Fountain Garden Glacier Glade Grove Harbor Heron
  Hill Island Juniper Kestrel Lagoon Lake Lantern Lark Laurel Lighthouse Lily Lynx Maple Marsh Meadow Mesa Mill Mountain
  Oak Oasis Ocean Orchard Otter Owl Palm Panda Path Peak Pine Plateau Pond Prairie Quail Raven Reef Ridge River Robin
  Sparrow Spruce Stream Summit Swan Temple Thicket Tower Trail Tree Valley Village Walnut Waterfall Willow Wren
`)

/** A whole number from 0 to below `count`, by chance. */
type Pick = (count: number) => number

/** One of several thousand names. Past some attempts to find a free one, a number behind it makes room for more. */
export function memorableName(pick: Pick, attempt = 0): string {
  const name = `${adjectives[pick(adjectives.length)]}${nouns[pick(nouns.length)]}`
  return attempt < plainAttempts ? name : `${name}${2 + pick(10 ** Math.min(2 + attempt - plainAttempts, 9))}`
}

const plainAttempts = 4

/** The lists serve to generate, not to judge (mail.name.well-formed): any two capitalised words will do. */
export const isMemorable = (name: string): boolean => name.length <= 100 && /^(?:[A-Z][a-z]+){2}$/.test(name)

/**
 * A wish for a name, reduced to letters and digits: `Green Castle!` → `GreenCastle`. Nothing is left of one with letters
 * that no name may have: without them it would be another word.
 */
export function lettersAndDigits(text: string): string {
  const plain = text.normalize('NFKD').replace(/[^\p{L}\p{N}]+/gu, '')
  return /^[A-Za-z0-9]*$/.test(plain) ? plain : ''
}

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/)
}
