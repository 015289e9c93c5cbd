/** Something that the person at the command line can put right: told in a sentence, without a stack trace. */
export class Mistake extends Error {}
