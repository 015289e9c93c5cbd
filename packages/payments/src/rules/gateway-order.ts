import { Secret } from '@tollgate/kit/secret'
import { settle } from '@tollgate/kit/shape'
import Type, { type Static } from 'typebox'
import { isChargeable } from './currencies.ts'
import type { ProcessingCode } from './processing-errors.ts'

/** Hidden before anything else is made of it, whatever it is. What is no text, and no number that could be one, is as good as empty. */
const Hidden = (description: string) =>
  settle(Type.Unknown({ description }), (value) => new Secret(Number.isSafeInteger(value) ? String(value) : textOf(value)))

/**
 * A card as old integrations send it. Shapes let everything pass: what is missing or wrong is told as a processing error, by which those
 * integrations know what to show to the payer.
 */
export const gatewayCardFields = {
  number: Type.Optional(Hidden('12 to 19 digits, with or without spaces')),
  expiry: Type.Optional(
    Type.Object({
      month: Type.Optional(Type.Unknown({ description: '1 to 12' })),
      year: Type.Optional(Type.Unknown({ description: 'Four digits' })),
    }),
  ),
  code: Type.Optional(Hidden('The security code: 3 digits')),
}

const Sent = Type.Object(gatewayCardFields)

export type GatewayCard = { number: Secret; month: number; year: number; code: Secret }

type Refused = { refused: ProcessingCode }

export function readGatewayCard({ number, expiry = {}, code }: Static<typeof Sent>): GatewayCard | Refused {
  if (!number) return { refused: 17 }
  if (expiry.month === undefined) return { refused: 18 }
  if (expiry.year === undefined) return { refused: 19 }
  if (!code) return { refused: 20 }
  const digits = number.reveal().replaceAll(' ', '')
  if (!/^[0-9]{12,19}$/.test(digits)) return { refused: 3 }
  const [month, year] = [wholeOf(expiry.month), wholeOf(expiry.year)]
  if (!(month >= 1 && month <= 12 && year >= 2000 && year <= 2099)) return { refused: 5 }
  if (!/^[0-9]{3}$/.test(code.reveal())) return { refused: 4 }
  return { number: new Secret(digits), month, year, code }
}

/** In minor units. */
export function readGatewayAmount(sent: unknown): { amount: number } | Refused {
  if (sent === undefined) return { refused: 15 }
  const amount = wholeOf(sent)
  if (!(amount >= 1)) return { refused: 14 }
  return amount <= Number.MAX_SAFE_INTEGER ? { amount } : { refused: 22 }
}

export function readGatewayCurrency(sent: unknown): { currency: string } | Refused {
  if (sent === undefined) return { refused: 16 }
  return typeof sent === 'string' && isChargeable(sent) ? { currency: sent } : { refused: 1 }
}

/** Undefined where none was sent. */
export function readGatewayDescriptor(sent: unknown): { descriptor: string | undefined } | Refused {
  if (sent === undefined) return { descriptor: undefined }
  return typeof sent === 'string' && /^[\x20-\x7e]{1,22}$/.test(sent) ? { descriptor: sent } : { refused: 13 }
}

/** NaN for what is no whole number. Forms have texts alone, and some programs write 1499.0. */
function wholeOf(sent: unknown): number {
  if (typeof sent === 'number') return Number.isInteger(sent) ? sent : Number.NaN
  return /^[0-9]{1,30}(\.0+)?$/.test(textOf(sent)) ? Number(sent) : Number.NaN
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
