/** What the page was sent with; without it nothing here would make sense. */
export function element<Kind extends HTMLElement = HTMLElement>(id: string): Kind {
  const found = document.getElementById(id)
  if (!found) throw new Error(`the page has no ${id}`)
  return found as Kind
}

export function maybeElement<Kind extends HTMLElement = HTMLElement>(id: string): Kind | undefined {
  return (document.getElementById(id) as Kind | null) ?? undefined
}

export type View = 'wait' | 'amount' | 'card' | 'paying' | 'paid' | 'unknown'

/** Shows one part of the page, and leads whoever does not see it there. */
export function show(view: View, focused?: HTMLElement): void {
  element('sheet').dataset.view = view
  for (const each of document.querySelectorAll<HTMLElement>('.view')) each.hidden = each.dataset.name !== view
  focused?.focus({ preventScroll: true })
  // Phones may have been scrolled down to the button.
  scrollTo({ top: 0 })
}

/** Said to those who listen to the page. */
export function announce(text: string): void {
  element('live').textContent = text
}

export function setText(id: string, text: string | undefined): void {
  const place = element(id)
  place.textContent = text ?? ''
  place.hidden = text === undefined
}
