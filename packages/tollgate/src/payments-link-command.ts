import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import type { Db } from '@tollgate/kit/db'
import { isId } from '@tollgate/kit/id'
import { type LinkWishes, makeLink } from '@tollgate/payments/rules/link-address'
import { qrLetters, qrPicture } from '@tollgate/payments/rules/qr'
import { findMerchant, findPayee } from '@tollgate/payments/store/merchants'
import type { Command } from './command.ts'
import { Mistake } from './mistake.ts'
import type { WithDb } from './payments-payouts-command.ts'

const texts = ['value', 'currency', 'reference', 'text', 'redirect', 'locale', 'svg'] as const
const names = [...texts, 'recurring']

const usage = 'link MERCHANT [--value 12.50] [--text …] [--svg FILE] …'

type Given = Partial<Record<(typeof texts)[number], string>> & { recurring?: boolean }

/** Where the code is shown: undefined where it is not shown but piped to somewhere. */
type Screen = { columns: number } | undefined

export function linkCommand(withDb: WithDb, screen: Screen = process.stdout.isTTY ? process.stdout : undefined): Command {
  return {
    summary: `Make a payment link with its QR code for a merchant, named by id or public key: ${names.map((name) => `--${name}`).join(', ')}`,
    usage,
    async run(words) {
      const { merchant, given } = readWords(words)
      const { svg, ...wishes } = given
      const { url, label } = await withDb(({ config, db }) => make(config.customers.posUrl, db, merchant, wishes))
      console.log(`${url}\n\n${shown(qrLetters(url), screen)}`)
      if (svg === undefined) return
      await writeFile(svg, qrPicture(url, label)).catch((problem: Error) => {
        throw new Mistake(`${svg} cannot be written: ${problem.message}`)
      })
      console.log(`\nThe QR code is in ${svg}.`)
    },
  }
}

async function make(posUrl: string, db: Db, named: string, wishes: LinkWishes) {
  const merchant = isId(named) ? await findMerchant(db, named, null) : await findPayee(db, named)
  if (!merchant) throw new Mistake(`There is no merchant with this ${isId(named) ? 'id' : 'public key'}: ${named}.`)
  const made = makeLink(posUrl, { key: named, ...merchant }, wishes)
  if ('field' in made) throw new Mistake(`--${made.field}: ${made.message}.`)
  return made
}

/** Black on white, whatever the colours of the terminal: a camera needs them so. */
function shown(letters: string, screen: Screen): string {
  if (!screen) return letters
  const lines = letters.split('\n')
  const width = lines[0]?.length ?? 0
  if (width > screen.columns) return `The QR code needs ${width} columns here; --svg FILE writes it as a picture.`
  return lines.map((line) => `\x1b[97;40m${line}\x1b[0m`).join('\n')
}

function readWords(words: readonly string[]): { merchant: string; given: Given } {
  const options = {
    ...Object.fromEntries(texts.map((name) => [name, { type: 'string' as const }])),
    recurring: { type: 'boolean' as const },
  }
  const { tokens } = parseArgs({ args: [...words], options, strict: false, allowPositionals: true, tokens: true })
  const merchants: string[] = []
  const given: Record<string, string | boolean> = {}
  for (const token of tokens) {
    if (token.kind === 'positional') merchants.push(token.value)
    if (token.kind !== 'option') continue
    const { name, value } = token
    if (!names.includes(name))
      throw new Mistake(`link knows ${names.map((each) => `--${each}`).join(', ')}, not ${token.rawName}.`)
    if (Object.hasOwn(given, name)) throw new Mistake(`--${name} is there twice.`)
    if (name === 'recurring' && value !== undefined) throw new Mistake('--recurring takes no value.')
    if (name !== 'recurring' && !value) throw new Mistake(`--${name} lacks its value.`)
    given[name] = value ?? true
  }
  const [merchant] = merchants
  if (merchant === undefined || merchants.length > 1) throw new Mistake(`Name one merchant: tollgate payments ${usage}`)
  return { merchant, given }
}
