import { expect, test } from 'vitest'
import { checkFloors, specifiersOf } from './floors.ts'

const imports = (...pairs: [string, string[]][]) => new Map(pairs)
const identity = (path: string) => `packages/identity/src/${path}`

test.each([
  ['an import that runs up', identity('store/users.ts'), identity('operations/create-user.ts'), /higher floor/],
  [
    'an endpoint that imports another',
    identity('endpoints/signup.ts'),
    identity('endpoints/verify.ts'),
    /do not know each other/,
  ],
  ['a service that knows the other', identity('operations/a.ts'), 'packages/payments/src/rules/b.ts', /does not know/],
  ['the kit that knows a service', 'packages/kit/src/serve.ts', identity('app.ts'), /does not know/],
  ['a file that stands on no floor', identity('helpers/x.ts'), identity('rules/y.ts'), /no floor/],
])('%s is a breach', (_, from, to, message) => {
  expect(checkFloors(imports([from, [to]], [to, []]))).toEqual([expect.stringMatching(message)])
})

test.each([
  ['an import that runs down', identity('endpoints/signup.ts'), identity('store/users.ts')],
  ['an import of the kit', identity('rules/password.ts'), 'packages/kit/src/duration.ts'],
  ['a verb that uses a verb', identity('operations/a.ts'), identity('operations/b.ts')],
  ['the command line, which knows everybody', 'packages/tollgate/src/main.ts', identity('main.ts')],
  ['a test, which may look anywhere', identity('store/users.test.ts'), identity('testing.ts')],
])('%s is none', (_, from, to) => {
  expect(checkFloors(imports([from, [to]], [to, []]))).toEqual([])
})

test('a circle is found, however long', () => {
  const found = checkFloors(
    imports(
      ['packages/kit/src/a.ts', ['packages/kit/src/b.ts']],
      ['packages/kit/src/b.ts', ['packages/kit/src/c.ts']],
      ['packages/kit/src/c.ts', ['packages/kit/src/a.ts']],
    ),
  )
  expect(found).toEqual([
    'A circle: packages/kit/src/a.ts → packages/kit/src/b.ts → packages/kit/src/c.ts → packages/kit/src/a.ts',
  ])
})

test('imports of every form are seen', () => {
  const text = `import a from './a.ts'\nimport {\n  b,\n} from './b.ts'\nimport type { C } from './c.ts'\nexport { d } from './d.ts'\nimport './e.ts'\nconst f = await import('./f.ts')`
  expect(specifiersOf(text)).toEqual(['./a.ts', './b.ts', './c.ts', './d.ts', './e.ts', './f.ts'])
})
