import { fill } from '../fill.ts'
import { type Amount, majorText } from '../money.ts'
import type { PageData } from '../page-data.ts'
import { parseAmount } from './amount.ts'
import { element } from './document.ts'
import { type Field, field, firstWrong } from './field.ts'
import { isAmount, type Wanted, type WantedField } from './popup-config.ts'

/** What the payer typed besides the card. */
export type MoreFields = { values: Readonly<Record<string, string>>; amount: Amount | undefined }

/** The fields that the shop asked for, and what is read from them; undefined when something is wrong, which is then shown. */
export function makeFields(
  data: PageData,
  wanted: Wanted,
  chosen: (amount: Amount | undefined) => void,
): { read(): MoreFields | undefined } {
  const { words, locale } = data
  const currency = currencyOf(data, wanted)
  const example = new Intl.NumberFormat(locale, { minimumFractionDigits: currency.decimals }).format(12.5)
  const amountIn = (text: string): Amount | undefined => {
    const minor = parseAmount(text, currency, locale)
    return typeof minor === 'number' ? { ...currency, minor } : undefined
  }
  const visible = wanted.fields.filter(({ type }) => type !== 'hidden')
  const made = visible.map((each, index) => {
    const initial = isAmount(each) && each.value === '' && wanted.amount ? majorText(wanted.amount) : each.value
    element('more-fields').append(fieldElement({ ...each, value: initial }, `more-${index}`))
    const own = field(`more-${index}`, (text) => {
      if (!isAmount(each)) return each.required && text.trim() === '' ? words.fieldMissing : undefined
      const problem = parseAmount(text, currency, locale)
      return typeof problem === 'string' ? fill(words[problem], { example }) : undefined
    })
    if (isAmount(each)) {
      const follow = () => chosen(amountIn(own.input.value))
      own.input.addEventListener('input', follow)
      if (initial !== '') follow()
    }
    return { each, own }
  })
  return {
    read() {
      if (firstWrong(made.map(({ own }): Field => own))) return undefined
      const typed = made.map(({ each, own }) => ({ each, text: own.input.value.trim() }))
      const amount = typed.filter(({ each }) => isAmount(each)).map(({ text }) => amountIn(text))[0]
      const written = typed.map(({ each, text }) => [each.name, isAmount(each) && amount ? majorText(amount) : text] as const)
      const hidden = wanted.fields.filter(({ type }) => type === 'hidden').map(({ name, value }) => [name, value] as const)
      return { values: Object.fromEntries([...hidden, ...written]), amount }
    },
  }
}

function currencyOf({ merchant, payment }: PageData, { amount }: Wanted): Pick<Amount, 'currency' | 'decimals'> {
  return amount
    ? { currency: amount.currency, decimals: amount.decimals }
    : { currency: merchant.currency, decimals: payment.decimals }
}

function fieldElement(wanted: WantedField, id: string): HTMLElement {
  const label = Object.assign(document.createElement('label'), { htmlFor: id, textContent: wanted.label })
  const input = Object.assign(document.createElement('input'), {
    id,
    type: isAmount(wanted) || wanted.type === 'number' ? 'text' : wanted.type,
    value: wanted.value,
    placeholder: wanted.placeholder,
    required: wanted.required,
    maxLength: 1024,
    autocomplete: autocompletes[wanted.name.toLowerCase()] ?? (wanted.type === 'email' ? 'email' : 'off'),
  })
  if (isAmount(wanted) || wanted.type === 'number') input.inputMode = 'decimal'
  input.setAttribute('aria-describedby', `${id}-error`)
  const box = Object.assign(document.createElement('div'), { className: 'box' })
  box.append(input)
  const error = Object.assign(document.createElement('p'), { className: 'error', id: `${id}-error` })
  const made = Object.assign(document.createElement('div'), { className: 'field' })
  made.append(label, box, error)
  return made
}

const autocompletes: Readonly<Record<string, AutoFill>> = {
  name: 'name',
  email: 'email',
  phone: 'tel',
  address: 'street-address',
  city: 'address-level2',
  zip: 'postal-code',
}
