import { element } from './document.ts'

/** A field with the place for what is wrong with it. */
export type Field = {
  input: HTMLInputElement
  /** Shows what is wrong, if anything is. */
  check(): boolean
  complain(text: string): void
  clear(): void
}

/** Says what is wrong when somebody leaves it or sends the form, and takes it back as soon as they type. */
export function field(id: string, problemOf: (text: string) => string | undefined): Field {
  const input = element<HTMLInputElement>(id)
  const place = element(`${id}-error`)
  const complain = (text: string) => {
    input.setAttribute('aria-invalid', 'true')
    place.textContent = text
  }
  const clear = () => {
    input.removeAttribute('aria-invalid')
    place.textContent = ''
  }
  const check = () => {
    const problem = problemOf(input.value)
    if (problem === undefined) clear()
    else complain(problem)
    return problem === undefined
  }
  input.addEventListener('input', clear)
  input.addEventListener('blur', () => {
    // Whoever only passes by has done nothing wrong yet.
    if (input.value.trim() !== '') unpressed(check)
  })
  return { input, check, complain, clear }
}

let pressed = false
for (const [name, is] of [
  ['pointerdown', true],
  ['pointerup', false],
  ['pointercancel', false],
] as const)
  addEventListener(
    name,
    () => {
      pressed = is
    },
    { capture: true },
  )

/** A sentence that appears moves what is below it: a button that somebody is just pressing would slip away under their finger. */
function unpressed(act: () => void): void {
  if (pressed) addEventListener('pointerup', () => setTimeout(act), { once: true })
  else act()
}

/** Checks all, and leads to the first that is wrong. */
export function firstWrong(fields: readonly Field[]): Field | undefined {
  const wrong = fields.filter((each) => !each.check())
  wrong[0]?.input.focus()
  return wrong[0]
}
