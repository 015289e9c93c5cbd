import { fill } from '../fill.ts'
import { type Amount, formatAmount } from '../money.ts'
import type { PageData } from '../page-data.ts'
import { simulationOf } from '../test-outcomes.ts'
import type { KnownNumber } from './card-form.ts'
import { checkout } from './checkout.ts'
import { element, maybeElement, setText, show } from './document.ts'
import { type Keeper, keeperFor, type Running } from './kept.ts'
import { type MoreFields, makeFields } from './more-fields.ts'
import type { Order } from './pay.ts'
import { isAmount, readConfig, type Wanted } from './popup-config.ts'

/** What is in the frame of the popup: it waits for the shop's page to say what is to be paid, and tells it what came of it. */
export function startPopup(data: PageData): void {
  let begun = false
  addEventListener('message', (event: MessageEvent) => {
    if (begun || event.source !== parent || parent === window || event.data?.tollgate !== 'pay') return
    begun = true
    // Only the origin that asked is told.
    const tell = (told: object) => parent.postMessage(told, event.origin === 'null' ? '*' : event.origin)
    const wanted = readConfig(event.data.config, data, new Date())
    if ('problem' in wanted) return tell({ tollgate: 'failed', message: wanted.problem })
    // What was begun for the very same order goes on, should the frame or the page around it have been loaded anew.
    open(data, wanted, { tell, keeper: keeperFor(`popup ${data.merchant.key} ${JSON.stringify(event.data.config)}`) })
  })
  if (parent !== window) parent.postMessage({ tollgate: 'ready' }, '*')
}

type State = 'open' | 'busy' | 'unknown'

function open(data: PageData, wanted: Wanted, { tell, keeper }: { tell(told: object): void; keeper: Keeper }): void {
  const flow = checkout(data)
  let state: State = 'open'
  describe(data, wanted, wanted.amount)
  const fields = makeFields(data, wanted, (amount) => describe(data, wanted, amount))

  const close = () => {
    if (state === 'busy') return
    tell(
      state === 'unknown'
        ? { tollgate: 'failed', message: 'It is not known whether the payment went through' }
        : { tollgate: 'closed' },
    )
  }
  element('close').addEventListener('click', close)
  addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !element<HTMLDialogElement>('challenge').open) close()
  })

  const setState = (next: State) => {
    state = next
    element('close').hidden = next === 'busy'
  }

  const proceed = async (begun: Running, number?: KnownNumber): Promise<void> => {
    setState('busy')
    const ending = await flow.run(begun.running, (running) => keeper.write({ ...begun, running }))
    if ('unknown' in ending) {
      setState('unknown')
      return flow.showUnknown(() => void proceed({ ...begun, running: ending.unknown }, number))
    }
    keeper.clear()
    if ('paid' in ending)
      return tell({ tollgate: 'paid', result: { transaction: { id: ending.paid }, custom: begun.running.order.custom } })
    setState('open')
    flow.showFailure(ending, number)
  }

  element<HTMLFormElement>('card-form').addEventListener('submit', async (event) => {
    event.preventDefault()
    if (state !== 'open') return
    flow.hideFailure()
    const more = fields.read()
    const typed = more && flow.form.read()
    if (!more || !typed) return
    setState('busy')
    const deposited = await flow.deposit(typed)
    if (!deposited) return setState('open')
    const order = orderOf(data, wanted, { card: deposited.card, more })
    const begun = { running: { order, hints: [], risky: false }, minor: 0, last4: deposited.number.last4 }
    keeper.write(begun)
    await proceed(begun, deposited.number)
  })
  element('pay').removeAttribute('disabled')
  const kept = keeper.read()
  if (kept && 'running' in kept) return void proceed(kept)
  show('card')
  const first = document.querySelector<HTMLElement>('#more-fields input') ?? element('number')
  first.focus()
}

function orderOf({ merchant }: PageData, wanted: Wanted, { card, more }: { card: Order; more: MoreFields }): Order {
  const { test, ...order } = wanted.order
  const currency = more.amount?.currency ?? wanted.amount?.currency ?? merchant.currency
  const chosen = maybeElement<HTMLSelectElement>('outcome')?.value ?? ''
  const custom = { ...wanted.custom, ...more.values }
  return {
    integration: { key: merchant.key },
    ...order,
    ...(more.amount ? { amount: { currency, exponent: more.amount.decimals, value: more.amount.minor } } : {}),
    card,
    ...(test ? { test: Object.keys(test).length > 0 ? test : simulationOf(chosen, currency) } : {}),
    ...(wanted.custom || Object.keys(custom).length > 0 ? { custom } : {}),
  }
}

/** Says what the payer is about to agree to. */
function describe(data: PageData, wanted: Wanted, amount: Amount | undefined): void {
  const { words, locale, merchant } = data
  const say = (text: string) => fill(text, { merchant: merchant.name })
  const shown = amount && formatAmount(amount, locale)
  if (wanted.title !== undefined) {
    element('heading').textContent = wanted.title
    element('shop').hidden = false
  }
  setText('text', wanted.description)
  setText('amount', shown)
  const saves = shown === undefined && !wanted.fields.some(isAmount)
  const nothingYet = saves ? words.saveCard : words.continue
  element('pay').textContent = shown === undefined ? nothingYet : fill(words.pay, { amount: shown })
  const again = wanted.order.unplanned !== undefined || wanted.order.plan !== undefined
  setText('agreement', saves ? say(words.saveCardExplained) : again ? say(words.recurringExplained) : undefined)
  const tools = maybeElement('test-tools')
  if (tools) tools.dataset.chosen = String(Object.keys(wanted.order.test ?? {}).length > 0)
  listPlan(data, wanted)
}

function listPlan({ locale }: PageData, { coming }: Wanted): void {
  const place = element('plan')
  place.hidden = coming === undefined
  const date = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' })
  const rows = (coming?.payments ?? []).map(({ at, amount }) => [date.format(at), formatAmount(amount, locale)])
  if (coming?.more) rows.push(['…', ''])
  const items = rows.map((texts) => {
    const item = document.createElement('li')
    for (const text of texts) item.append(Object.assign(document.createElement('span'), { textContent: text }))
    return item
  })
  place.querySelector('ul')?.replaceChildren(...items)
}
