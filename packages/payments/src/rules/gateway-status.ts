import type { ProcessingCode } from './processing-errors.ts'

/** How card gateways answer, and what it is to us. One status alone approves. */
export const approvedStatus = 20000
export const acquirerError = 50000

export const codeByStatus: Readonly<Record<number, ProcessingCode>> = {
  40000: 12,
  40110: 3,
  40111: 29,
  40120: 4,
  40130: 5,
  40135: 6,
  40140: 1,
  40150: 13,
  40200: 11,
  40300: 30,
  40310: 31,
  40400: 12,
  40410: 8,
  40411: 9,
  40412: 10,
  40413: 7,
  40414: 11,
  40415: 25,
  40416: 30,
  40420: 10,
  [acquirerError]: 12,
}
