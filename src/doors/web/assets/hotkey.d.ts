/** The library under the name that browsers load it by. */
export { install } from '@github/hotkey'
