/** Where a service gets the time from. Tests hand in one that stands still. */
export type Clock = () => Date

export const systemClock: Clock = () => new Date()
