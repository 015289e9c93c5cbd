import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A statement of the payments service: where it stands, what it says, and the tables and views that it names. */
export type Written = { file: string; name: string; text: string; tables: string[] }

/** Every statement in a folder of tables, by the function that it stands in. */
export function statementsIn(folder: string): Written[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  return files.flatMap((file) => {
    const [, ...parts] = readFileSync(join(folder, file), 'utf8').split(/^(?:export )?(?:async )?function (\w+)/m)
    return Array.from({ length: parts.length / 2 }, (_, index) => {
      const [name = '', body = ''] = parts.slice(2 * index, 2 * index + 2)
      return [...body.matchAll(/\b(?:sql|tx)(?:<[^`]*?>)?`([\s\S]*?)`/g)].map(([, text = '']) => {
        const tables = [...text.matchAll(/\bpay\.(\w+)/g)].map(([, table = '']) => table)
        return { file, name, text, tables: [...new Set(tables)] }
      })
    }).flat()
  })
}

/** Whether it says of which merchant its rows are: Citus then asks one server, and every other statement all of them. */
export function namesMerchant({ text }: Written): boolean {
  return /(?:merchant_id = |values \(|select )\$\{[\w.]*merchantId\}/.test(text)
}
