import Type from 'typebox'
import { type App, endpoint } from '../app.ts'
import { identified } from '../callers.ts'
import { unfit } from '../errors.ts'
import { once, onceFails } from '../operations/once.ts'
import { readClaim } from '../operations/read-claim.ts'
import { seeWholeMerchant } from '../operations/see-whole-merchant.ts'
import { type LinkWishes, makeLink } from '../rules/link-address.ts'
import { qrPicture } from '../rules/qr.ts'
import { Amount, Currency, Id, idempotencyNote } from '../shapes.ts'
import type { Merchant } from '../store/merchants.ts'

export const merchantsLinks = endpoint({
  method: 'POST',
  path: '/merchants/{merchant_id}/links',
  summary: 'Make a payment link, with its QR code',
  description:
    'Nothing is kept of it: the address says everything, and whoever opens it can pay. Without amount and value the payer enters the amount. ' +
    `See [Payment links](guides/payment-links.md). ${idempotencyNote}`,
  tag: 'Links',
  caller: identified,
  params: Type.Object({ merchant_id: Id }),
  body: Type.Object({
    currency: Type.Optional(Currency),
    amount: Type.Optional(Amount),
    value: Type.Optional(
      Type.Union([Type.String(), Type.Number()], { description: 'Instead of amount: in major units, such as 12.50' }),
    ),
    reference: Type.Optional(Type.String({ description: 'Kept with the transaction, as custom.reference' })),
    text: Type.Optional(Type.String({ description: 'Shown to the payer' })),
    redirect: Type.Optional(Type.String({ description: 'Where the payer goes afterwards' })),
    locale: Type.Optional(Type.String({ description: 'The language of the page: da, or en_US' })),
    recurring: Type.Optional(Type.Boolean({ description: 'The payer agrees to payments after this one' })),
  }),
  reply: {
    201: Type.Object({
      link: Type.Object({ url: Type.String(), qr: Type.String({ description: 'A QR code of the address, as SVG' }) }),
    }),
  },
  fails: ['not_found', 'validation_failed', ...onceFails],
  subject: seeWholeMerchant,

  run(app, { who, subject: merchant, body, request }) {
    const claim = readClaim({ who, request, body })
    const made = tellLink(app, merchant, { ...body, value: body.value === undefined ? undefined : String(body.value) })
    return claim ? once(app, claim, async () => made) : made
  },
})

function tellLink({ config }: App, merchant: Merchant, wishes: LinkWishes) {
  const made = makeLink(config.customers.posUrl, merchant, wishes)
  if ('field' in made) throw unfit(made.field, made.message)
  return { link: { url: made.url, qr: qrPicture(made.url, made.label) } }
}
