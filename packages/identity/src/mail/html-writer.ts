import { safeAttribute } from './safe-attribute.ts'
import { TemplateProblem } from './template-syntax.ts'

type State =
  | 'text'
  | 'less'
  | 'less slash'
  | 'markup'
  | 'bogus'
  | 'comment'
  | 'tag name'
  | 'attributes'
  | 'attribute name'
  | 'after name'
  | 'before value'
  | 'double'
  | 'single'
  | 'bare'
  | 'raw'

/** Elements whose content a browser does not read as HTML. */
const rawElements = new Set(['script', 'style', 'title', 'textarea', 'xmp', 'iframe', 'noembed', 'noframes', 'plaintext'])
/** Those of them in which escaped text is text. */
const textElements = new Set(['title', 'textarea'])

const space = /[\t\n\f\r ]/
const letter = /[a-zA-Z]/

/**
 * Follows the template's own HTML the way a browser reads it, so that it is known where a value stands at the moment when
 * it is written, whichever branches led there. The states are those of https://html.spec.whatwg.org/#tokenization. Comments are left out, as Go's
 * templates do: mail programs read some of them as HTML, and a value in there would be out of control.
 */
export function createHtmlWriter() {
  let out = ''
  let state: State = 'text'
  let tag = { name: '', closing: false }
  let attribute = ''
  /** What the attribute's value is so far, unescaped. */
  let written = ''
  let comment = ''
  let rawTail = ''

  function enterTag(first: string, closing: boolean) {
    tag = { name: first.toLowerCase(), closing }
    state = 'tag name'
  }

  function leaveTag() {
    state = !tag.closing && rawElements.has(tag.name) ? 'raw' : 'text'
    rawTail = ''
  }

  function enterAttribute(first: string) {
    attribute = first.toLowerCase()
    state = 'attribute name'
  }

  function enterValue(next: 'double' | 'single' | 'bare', first: string) {
    written = first
    state = next
  }

  const steps: Record<State, (character: string) => void> = {
    text(character) {
      if (character === '<') state = 'less'
    },
    less(character) {
      if (letter.test(character)) enterTag(character, false)
      else if (character === '/') state = 'less slash'
      else if (character === '!') state = 'markup'
      else if (character === '?') state = 'bogus'
      else if (character !== '<') state = 'text'
    },
    'less slash'(character) {
      if (letter.test(character)) enterTag(character, true)
      else state = character === '>' ? 'text' : 'bogus'
    },
    markup(character) {
      if (character === '>') state = 'text'
      else if (!out.endsWith('<!--')) state = character === '-' ? 'markup' : 'bogus'
      else {
        out = out.slice(0, -4)
        comment = ''
        state = 'comment'
      }
    },
    bogus(character) {
      if (character === '>') state = 'text'
    },
    comment() {},
    'tag name'(character) {
      if (character === '>') leaveTag()
      else if (space.test(character) || character === '/') state = 'attributes'
      else tag.name += character.toLowerCase()
    },
    attributes(character) {
      if (character === '>') leaveTag()
      else if (!space.test(character) && character !== '/') enterAttribute(character)
    },
    'attribute name'(character) {
      if (character === '>') leaveTag()
      else if (character === '=') state = 'before value'
      else if (character === '/') state = 'attributes'
      else if (space.test(character)) state = 'after name'
      else attribute += character.toLowerCase()
    },
    'after name'(character) {
      if (character === '>') leaveTag()
      else if (character === '=') state = 'before value'
      else if (character === '/') state = 'attributes'
      else if (!space.test(character)) enterAttribute(character)
    },
    'before value'(character) {
      if (character === '>') leaveTag()
      else if (character === '"') enterValue('double', '')
      else if (character === "'") enterValue('single', '')
      else if (!space.test(character)) enterValue('bare', character)
    },
    double(character) {
      if (character === '"') state = 'attributes'
      else written += character
    },
    single(character) {
      if (character === "'") state = 'attributes'
      else written += character
    },
    bare(character) {
      if (character === '>') leaveTag()
      else if (space.test(character)) state = 'attributes'
      else written += character
    },
    raw(character) {
      rawTail = (rawTail + character.toLowerCase()).slice(-12)
      if (!/[\t\n\f\r />]/.test(character) || !rawTail.slice(0, -1).endsWith(`</${tag.name}`)) return
      tag.closing = true
      if (character === '>') leaveTag()
      else state = 'attributes'
    },
  }

  /** Ends where browsers end a comment: also at `<!-->`, `<!--->` and `--!>`. */
  function skipComment(character: string) {
    comment = (comment.length < 4 ? comment : comment.slice(-4)) + character
    if (/^-?>$|--!?>$/.test(comment)) state = 'text'
  }

  return {
    literal(text: string): void {
      for (const character of text) {
        // The first character of a comment takes the opening out of what was written, and is itself a part of the comment.
        if (state === 'markup') steps.markup(character)
        else if (state !== 'comment') {
          steps[state](character)
          out += character
          continue
        }
        if ((state as State) === 'comment') skipComment(character)
        else out += character
      }
    },

    value(value: string, link: boolean): void {
      if (state === 'comment' || (state === 'markup' && out.endsWith('<!--'))) return
      const text = value.toWellFormed().replaceAll('\0', '\ufffd')
      if (state === 'text' || (state === 'raw' && textElements.has(tag.name))) {
        out += escapeText(text)
        rawTail = ''
        return
      }
      if (state === 'before value') enterValue('bare', '')
      if (state !== 'double' && state !== 'single' && state !== 'bare') throw new TemplateProblem(misplaced(state, tag.name))
      const safe = safeAttribute(attribute, written, text, link)
      written += safe
      // Without quotes, every character but the plainest could end the value, and nothing at all would swallow what follows.
      out += state === 'bare' ? escapeBare(safe) || '&#32;' : escapeText(safe)
    },

    finish(): string {
      return out
    },
  }
}

function misplaced(state: State, element: string): string {
  if (state === 'raw') return `A value cannot stand inside of <${element}>`
  return 'A value cannot stand inside of a tag, other than as the value of an attribute'
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
  '+': '&#43;',
  '`': '&#96;',
}

function escapeText(text: string): string {
  return text.replace(/[&<>"'+`]/g, (character) => entities[character] ?? '')
}

function escapeBare(text: string): string {
  return text.replace(/[^a-zA-Z0-9._-]/gu, (character) => `&#${character.codePointAt(0)};`)
}
