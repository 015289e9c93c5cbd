import { settle } from '@tollgate/kit/shape'
import Type from 'typebox'
import { exponentOf } from './currencies.ts'

const parts = {
  currency: settle(Type.String({ pattern: '^[A-Z]{3}$', format: 'currency', description: 'ISO 4217 code' }), (code) =>
    exponentOf(code) === undefined ? undefined : code,
  ),
  exponent: Type.Integer({ minimum: 0, maximum: 30, description: 'How many digits of the value are decimals' }),
}

/** An amount with as many decimals as whoever sends it likes: what is finer than minor units is rounded up, see `minorOf`. */
export const MoneyShape = Type.Object({
  ...parts,
  value: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
})

/** The same for what may also be nothing. */
export const MoneyOrNoneShape = Type.Object({
  ...parts,
  value: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
})
