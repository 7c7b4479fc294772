/** One way to an engine is closed on this machine; the message says why, and the next way is tried. */
export class Unavailable extends Error {}
