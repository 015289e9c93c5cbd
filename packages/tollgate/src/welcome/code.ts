/** Digits that stand for themselves, and are no part of an address, a phone number, an amount or an identifier. */
const alone = /(?<![\w+#/=%@&.-]|\d,)\d{6,10}(?![\w@/%=-]|[.,]\d)/
const address = /https?:\/\/\S+/gi

/** The code that a message brings, to be typed in somewhere; the first where there are several. */
export function findCode(text: string): string | undefined {
  return alone.exec(text.replaceAll(address, ' '))?.[0]
}

/** What a reader sees of HTML, for looking something up in it. Every step is done in one pass, however the tags are nested or left open. */
export function visibleText(html: string): string {
  return html
    .split(/<\/(?:style|script|title)\b/i)
    .map((part) => part.replace(/<(?:style|script|title)\b.*$/is, ' '))
    .join('<')
    .replaceAll(/<[^<>]*>/g, ' ')
}
