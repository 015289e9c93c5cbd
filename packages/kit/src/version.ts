import manifest from '../package.json' with { type: 'json' }

/** Everything in the house is released together, under one number. */
export const version: string = manifest.version
