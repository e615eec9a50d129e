/** The log for people, in a file of its own: a service and a bus process do without the 28 modules of this package. */
export { default as pretty } from 'pino-pretty'
