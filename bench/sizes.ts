/** How much there is in the tables that a workload looks at. */
export type Size = { name: string; rows: number; title: string }

const thousand: Size = { name: '1k', rows: 1_000, title: '1,000' }
const hundredThousand: Size = { name: '100k', rows: 100_000, title: '100,000' }
const million: Size = { name: '1m', rows: 1_000_000, title: '1,000,000' }

/** From the smallest to the largest, which others are compared with the first of. */
export const sizes = [thousand, hundredThousand, million] as const

/** Takes many minutes to make: measured only when it is asked for. */
export const tenMillion: Size = { name: '10m', rows: 10_000_000, title: '10,000,000' }
