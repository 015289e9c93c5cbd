import type { PageData } from '../page-data.ts'
import { element } from './document.ts'
import { knownLocale } from './known-locale.ts'
import { startLink } from './link.ts'
import { startPopup } from './popup.ts'

const told = JSON.parse(element('data').textContent ?? '') as PageData
const data = { ...told, locale: knownLocale(told.locale) }

if (data.kind === 'popup') startPopup(data)
else startLink(data)

// Whoever comes back with the button of the browser may get the page as they left it, in the middle of something.
addEventListener('pageshow', (event) => {
  if (event.persisted) location.reload()
})
