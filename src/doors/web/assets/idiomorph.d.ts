/** The library under the name that browsers load it by. */
export { Idiomorph } from 'idiomorph'
