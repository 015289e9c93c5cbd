import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const page = readFileSync(join(root, 'docs/security.md'), 'utf8')

type Row = { number: string; asks: string; verdict: string; how: string }

const rows: Row[] = [...page.matchAll(/^\| (\d+\.\d+\.\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$/gm)].map(
  ([, number = '', asks = '', verdict = '', how = '']) => ({ number, asks, verdict, how }),
)

/** What version 5.0.0 of the standard has at levels 1 and 2: `6.2 12` are the requirements 6.2.1 to 6.2.12. */
const sections = [
  ...[
    '1.1 2',
    '1.2 9',
    '1.3 11',
    '1.4 3',
    '1.5 2',
    '2.1 3',
    '2.2 3',
    '2.3 4',
    '2.4 1',
    '3.2 2',
    '3.3 4',
    '3.4 6',
    '3.5 5',
    '3.7 2',
  ],
  ...[
    '4.1 3',
    '4.2 1',
    '4.3 2',
    '4.4 4',
    '5.1 1',
    '5.2 3',
    '5.3 2',
    '5.4 3',
    '6.1 3',
    '6.2 12',
    '6.3 4',
    '6.4 4',
    '6.5 5',
    '6.6 3',
  ],
  ...[
    '6.8 4',
    '7.1 3',
    '7.2 4',
    '7.3 2',
    '7.4 5',
    '7.5 2',
    '7.6 2',
    '8.1 2',
    '8.2 3',
    '8.3 1',
    '8.4 1',
    '9.1 3',
    '9.2 4',
    '10.1 2',
  ],
  ...['10.2 2', '10.3 4', '10.4 11', '10.5 5', '10.6 2', '10.7 3', '11.1 2', '11.2 3', '11.3 3', '11.4 4', '11.5 1', '11.6 1'],
  ...['12.1 3', '12.2 2', '12.3 4', '13.1 1', '13.2 5', '13.3 2', '13.4 5', '14.1 2', '14.2 4', '14.3 3', '15.1 3', '15.2 3'],
  ...['15.3 7', '16.1 1', '16.2 5', '16.3 4', '16.4 3', '16.5 3', '17.1 1', '17.2 4', '17.3 2'],
]
const asked = sections.flatMap((each) => {
  const [section, last] = each.split(' ')
  return Array.from({ length: Number(last) }, (_, index) => `${section}.${index + 1}`)
})

/** `file` “title”, and further titles of the same file by naming it again. */
const namedTests = (text: string) =>
  [...text.matchAll(/`((?:packages|e2e|tools)\/[\w./-]+\.test\.ts)` “([^”]+)”/g)].map(([, file = '', title = '']) => ({
    file,
    title,
  }))
const linksIn = (text: string) => [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, place = '']) => place)

const sources = new Map<string, string>()
function sourceOf(file: string): string {
  const known = sources.get(file)
  if (known !== undefined) return known
  const text = existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : ''
  sources.set(file, text)
  return text
}

/** Whether a test of a file has this title, in quotes of any kind: behind `test(`, or behind the table of a `test.each`. */
function hasTest(file: string, title: string): boolean {
  const source = sourceOf(file)
  const spellings = [`'${title.replaceAll("'", "\\'")}'`, `"${title}"`, `\`${title}\``]
  return spellings.some((spelling) => {
    for (let at = source.indexOf(spelling); at >= 0; at = source.indexOf(spelling, at + 1)) {
      const before = source.slice(0, at).trimEnd()
      const [, maker] = [...before.matchAll(/(\w+)\.each\b/g)].at(-1) ?? []
      if (before.endsWith('test(') || (before.endsWith(')(') && maker === 'test')) return true
    }
    return false
  })
}

/** As readers of Markdown name them. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} -]/gu, '')
      .replaceAll(' ', '-'),
  )
}

describe('the matrix of the standard', () => {
  test('has every requirement of levels 1 and 2, each once', () => {
    expect(asked.length).toBe(253)
    expect(rows.map(({ number }) => number).toSorted()).toEqual(asked.toSorted())
  })

  test('counts its verdicts rightly', () => {
    const verdicts = ['met', 'partly', 'operator', 'not met', 'n/a']
    expect(rows.filter(({ verdict }) => !verdicts.includes(verdict))).toEqual([])
    for (const verdict of verdicts) {
      const [, told] = new RegExp(`^\\| ${verdict} \\|[^|]+\\| (\\d+) \\|$`, 'm').exec(page) ?? []
      expect([verdict, Number(told)]).toEqual([verdict, rows.filter((row) => row.verdict === verdict).length])
    }
  })

  test('would notice a test that is not there', () => {
    const file = 'packages/kit/src/secret.test.ts'
    expect([hasTest(file, 'a secret tells itself only when asked'), hasTest(file, 'a secret tells itself')]).toEqual([
      true,
      false,
    ])
    expect(hasTest('packages/kit/src/nothing.test.ts', 'a secret tells itself only when asked')).toBe(false)
    // Of a group, and not of a test.
    expect(hasTest('packages/payments/src/operations/crashes.test.ts', 'where the acquirer %s')).toBe(false)
  })

  test('names tests that are there', () => {
    const named = namedTests(page)
    expect(named.length).toBeGreaterThan(150)
    expect(named.filter(({ file, title }) => !hasTest(file, title))).toEqual([])
    // Whatever looks like the name of a test file is one that this test understood.
    expect([...page.matchAll(/[\w./-]+\.test\.ts` “/g)].length).toBe(named.length)
  })

  test('claims nothing to be met without a test, or the document that was asked for', () => {
    const bare = rows.filter(({ verdict, how }) => verdict === 'met' && namedTests(how).length === 0 && linksIn(how).length === 0)
    expect(bare).toEqual([])
    // Everything else says why.
    expect(rows.filter(({ verdict, how }) => verdict !== 'met' && how.length < 6)).toEqual([])
  })
})

test.each(['docs/security.md', 'docs/threat-model.md', 'SECURITY.md'])('every link of %s leads somewhere', (file) => {
  const text = readFileSync(join(root, file), 'utf8')
  for (const link of linksIn(text)) {
    const [path = '', anchor] = link.split('#')
    const target = path === '' ? file : join(dirname(file), path)
    expect([link, existsSync(join(root, target))]).toEqual([link, true])
    if (anchor !== undefined)
      expect([link, anchorsOf(readFileSync(join(root, target), 'utf8'))]).toEqual([link, expect.arrayContaining([anchor])])
  }
})

test('the threat model names files that are there', () => {
  const text = readFileSync(join(root, 'docs/threat-model.md'), 'utf8')
  const files = [...text.matchAll(/`((?:packages|tools|e2e)\/[\w./-]+\.(?:ts|sql))`/g)].map(([, file = '']) => file)
  expect(files.length).toBeGreaterThan(30)
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([])
})
