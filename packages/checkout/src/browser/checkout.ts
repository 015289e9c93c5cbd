import { fill } from '../fill.ts'
import type { PageData } from '../page-data.ts'
import { type CardForm, cardForm, type KnownNumber, type TypedCard } from './card-form.ts'
import { announce, element, show } from './document.ts'
import { isDecided, type Told, tellFailure } from './failure-words.ts'
import { Cancelled, openSeen, openUnseen } from './frames.ts'
import { type Attempt, type Order, pay, type Stage } from './pay.ts'
import { poster, Refused } from './post.ts'

/** How a payment ended; where nobody knows, what to ask on with. */
export type Ending = { paid: string } | { refused: string } | { cancelled: true } | { unknown: Attempt }

export type Checkout = {
  form: CardForm
  /** Goes on with a payment to its end, showing how far it is. */
  run(attempt: Attempt, keep: (attempt: Attempt) => void): Promise<Ending>
  /** Hands the card to the vault, and gives what stands for it. Without an answer nothing is paid, and the form is shown again. */
  deposit(card: TypedCard): Promise<{ card: Order; number: KnownNumber } | undefined>
  showUnknown(resume: () => void): void
  /** Shows the form again, with what went wrong. */
  showFailure(
    ending: Exclude<Ending, { paid: string } | { unknown: Attempt }>,
    number: KnownNumber | 'as typed' | undefined,
  ): void
  hideFailure(): void
}

/** The part that a link and a popup have in common. */
export function checkout({ words, merchant }: PageData): Checkout {
  let step = words.paying
  const tell = (text: string) => {
    element('step').textContent = text
    announce(text)
  }
  const post = poster({
    fetch: (...asked) => fetch(...asked),
    pause,
    troubled: (is) => tell(is ? words.offline : step),
  })
  const entered = (stage: Stage) => {
    step = words[stage]
    tell(step)
  }
  const form = cardForm(words, merchant)
  const failure = element('failure')
  const showFailure: Checkout['showFailure'] = (ending, number) => {
    const told: Told = 'cancelled' in ending ? { word: 'cancelled' } : tellFailure(ending.refused)
    const text = fill(words[told.word], { merchant: merchant.name })
    if (number !== 'as typed') form.empty(told.wrong === 'number' ? undefined : number)
    failure.replaceChildren(paragraph(text), paragraph(words.notCharged))
    failure.hidden = false
    show('card')
    announce('')
    form.mark(told.wrong, text)
  }
  return {
    form,
    async run(attempt, keep) {
      let latest = attempt
      const course = {
        ...{ post, openUnseen, entered },
        openSeen: (opening: Parameters<typeof openSeen>[0]) => openSeen(opening, words),
        keep(next: Attempt) {
          latest = next
          keep(next)
        },
      }
      entered('checkingCard')
      show('paying', element('step'))
      try {
        return { paid: await whileWarned(() => pay(attempt, course)) }
      } catch (problem) {
        if (problem instanceof Cancelled) return { cancelled: true }
        if (problem instanceof Refused && (isDecided(problem.code) || !latest.risky)) return { refused: problem.code }
        return latest.risky ? { unknown: latest } : { refused: 'INTERNAL_ERROR' }
      }
    },
    async deposit({ number, code, expiry }) {
      entered('checkingCard')
      show('paying', element('step'))
      const last4 = typeof number === 'string' ? number.slice(-4) : number.last4
      const seal = (type: string, value: string) => post<object>('/vault', { type, value })
      try {
        const [token, codeToken] = await Promise.all([
          typeof number === 'string' ? seal('pcn', number) : number.token,
          seal('pcsc', code),
        ])
        form.empty(undefined)
        return { card: { number: token, code: codeToken, expiry }, number: { token, last4 } }
      } catch {
        showFailure({ refused: 'INTERNAL_ERROR' }, 'as typed')
        return undefined
      }
    },
    showUnknown(resume) {
      element('resume').onclick = resume
      show('unknown', element('unknown'))
    },
    showFailure,
    hideFailure() {
      failure.hidden = true
    },
  }
}

function paragraph(text: string): HTMLParagraphElement {
  const made = document.createElement('p')
  made.textContent = text
  return made
}

/** Whoever leaves in the middle of a payment is asked whether they mean it. */
async function whileWarned<Value>(act: () => Promise<Value>): Promise<Value> {
  const warn = (event: BeforeUnloadEvent) => event.preventDefault()
  addEventListener('beforeunload', warn)
  try {
    return await act()
  } finally {
    removeEventListener('beforeunload', warn)
  }
}

/** Ends early when the device says that it has a connection again. */
function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      removeEventListener('online', done)
      resolve()
    }
    const timer = setTimeout(done, milliseconds)
    addEventListener('online', done)
  })
}
