import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { destination } from './redirect.ts'

/** Written apart by blanks. */
const words = (text: string) => text.trim().split(/\s+/)

const siteUrl = 'https://site.example'
const allowList = [
  'https://*.apps.example/**',
  'https://one.example/callback',
  'http://localhost:3000/**',
  'http://127.0.0.1:*/**',
  'com.shop.app://*',
]
const rules = { siteUrl, allowList }

const sent = (candidate: string, { site = siteUrl, list = allowList }: { site?: string; list?: string[] } = {}) =>
  destination({ siteUrl: site, allowList: list }, [candidate])

describe('legitimate', () => {
  test.each([
    ...[
      'https://site.example',
      'https://site.example/',
      'https://SITE.example/x',
      'HTTPS://site.example/x',
      'https://site.example:443/x',
    ],
    ...[
      'https://site.example/a/b?c=d&e=https://evil.example',
      'https://site.example?next=//evil.example',
      'https://site.example/#/route?x',
    ],
    ...[
      'https://site.example/a/../b',
      'https://site.example//evil.example',
      'https://site.example/@evil.example',
      'https://site.example/%5C',
    ],
    ...[
      'https://a.apps.example/',
      'https://a.apps.example/x/y.html?z=1#frag',
      'https://A.Apps.Example/x',
      'https://one.example/callback',
    ],
    ...['https://one.example/callback#section', 'http://localhost:3000/', 'http://localhost:3000/x/y', 'http://127.0.0.1:5173/x'],
    ...['com.shop.app://login', 'com.shop.app://', 'COM.shop.app://login', 'com.shop.app://login#x'],
  ])('%s', (candidate) => {
    expect(sent(candidate)).toBe(candidate)
  })

  test.each([
    ['http://localhost:3000', 'http://localhost:5173/x'],
    ['http://localhost:3000', 'http://localhost/x'],
    ['http://localhost:3000', 'https://localhost:8443/x'],
    ['https://localhost', 'https://localhost:8443/x'],
    ['http://app.localhost:3000', 'http://app.localhost:4000/x'],
    ['http://127.0.0.1:3000', 'http://127.0.0.1:8080/x'],
    ['http://[::1]:3000', 'http://[::1]:8080/x'],
    ['http://192.168.1.5:3000', 'http://192.168.1.5:3000/x'],
    ['http://site.example', 'https://site.example/x'],
    ['https://site.example:8443/base', 'https://site.example:8443/x'],
    ['https://b\u00fccher.example', 'https://xn--bcher-kva.example/x'],
  ])('%s is the site of %s', (site, candidate) => {
    expect(sent(candidate, { site, list: [] })).toBe(candidate)
  })

  test.each([
    ['exp://127.0.0.1:8081/--/**', 'exp://127.0.0.1:8081/--/login'],
    ['myapp:/*', 'myapp:/login'],
    ['myapp:*', 'myapp:login'],
    ['myapp://**', 'myapp://some_page/x?y=z'],
    ['http://\\[::1\\]:3000/**', 'http://[::1]:3000/x'],
    ['https://shop-[0-9].example/{in,out}/*', 'https://shop-7.example/out/x'],
    ['{http,https}://both.example/**', 'http://both.example/x'],
    ['https://late.example:443/**', 'https://late.example:443/x'],
    ['**', 'https://anywhere.example/x'],
  ])('%s lets %s through', (glob, candidate) => {
    expect(sent(candidate, { list: [glob] })).toBe(candidate)
  })

  test('letters that cannot travel in a header are escaped on the way', () => {
    expect(sent('https://site.example/caf\u00e9?q=\u00fc#\u00df')).toBe('https://site.example/caf%C3%A9?q=%C3%BC#%C3%9F')
    expect(sent('https://a.apps.example/\u{1f511}')).toBe('https://a.apps.example/%F0%9F%94%91')
  })
})

describe('attacks end at the site', () => {
  const elsewhere = words(`
    https://evil.example https://evil.example/https://site.example https://evil.example/?https://site.example
    https://evil.example#https://site.example https://site.example.evil.example https://site.exampleevil.example
    https://evilsite.example https://evil-site.example https://site-example.evil.example https://sub.site.example
    https://www.site.example https://site.example. https://.site.example https://site..example https://site.examplex
    https://site.exampl https://site.example:8443/ https://site.example:80/ https://site.example:444 https://site.example:0/
    https://site.example:65536/ https://site.example:99999 https://site.example: http://site.example http://site.example/
    http://site.example:443/ HTTP://site.example/x http://SITE.example:80/ https://localhost http://localhost
    http://localhost:3001/ https://localhost:3000/ http://127.0.0.2:3000/ http://[::1]:3000/ http://x.localhost:3000/
  `)
  const userinfo = words(`
    https://site.example@evil.example https://site.example:443@evil.example/ https://site.example:x@evil.example
    https://evil.example@site.example https://@site.example https://:@site.example/ https://user:pass@site.example/
    https://site.example%40evil.example https://site.example%2f@evil.example https://site.example%5c@evil.example
    https://x@a.apps.example/ https://a.apps.example@evil.example/ https://evil.example%23@site.example
    https://site.example&@evil.example https://site.example;@evil.example https://site.example,evil.example
    https://site.example@@evil.example com.shop.app://x@evil https://a.apps.example:x@evil.example/
  `)
  const slashes = words(String.raw`
    https:\\site.example https:\\evil.example https://site.example\@evil.example https://evil.example\@site.example
    https://evil.example\.site.example https://site.example\.evil.example https:/\evil.example https:/evil.example
    https:evil.example https:site.example https:/site.example https:///site.example https:////site.example
    https:///evil.example https:\/site.example //evil.example ///evil.example ////evil.example \\evil.example /\evil.example
    //site.example / /x /x/../y ./x ../x x ?x #x . .. site.example site.example/x https//site.example https:://site.example
    ://site.example :site.example https:// https: https http:// https://?site.example https://#site.example https:///
    https://site.example\x https://site.example/x\y
  `)
  const blanks = [
    ...words(`
    %20https://site.example %09//evil.example
  `),
    ...[' https://site.example', 'https://site.example ', '\thttps://site.example', 'https://site.example\n'],
    ...['ht\ntps://site.example', 'ht\ttps://evil.example', 'https://site\t.example'],
    ...['https://site.example\r\nLocation: https://evil.example', 'https://site.example/\r\nSet-Cookie: a=b'],
    ...['https://site.example/\u0000', 'https://site.example\u0000.evil.example', 'https://evil.example\t.site.example'],
    ...['java\tscript:alert(1)', 'https://site.example/ x', 'https:// site.example', 'https ://site.example'],
    ...['\u0001https://site.example', 'https://site.example\u00a0', '\ufeffhttps://site.example'],
    ...['https://site.example\u2028', 'https://site.example/\u202eevil', 'https://site\u200b.example'],
    ...['https://site.example\u3000', 'https://si\u00adte.example', 'https://site.example/\u007f'],
    ...['https://site.example\u000b', 'https://site.example/\u0085', 'https://site.example\u2060', '/\t/evil.example'],
    ...['/\n/evil.example', 'https://a.apps.example/\n'],
  ]
  const unicode = [
    ...words(`
    https://xn--site-6ya.example https://site%2eexample https://s%69te.example https://%73ite.example https://site.example%00
    https://site.example%2eevil.example https://a.apps%2eexample/ https://evil%2eexample https://site_.example
    https://a_b.apps.example/ https://a!.apps.example/ https://a$.apps.example/ https://a~.apps.example/
    https://(a).apps.example/ https://a*.apps.example/
  `),
    ...['https://s\u0456te.example', 'https://\uff53ite.example', 'https://site\u3002example'],
    ...['https://site\uff0eexample', 'https://site.ex\u0430mple', 'https://site.example\uff0fevil'],
    ...['https://site.example\uff20evil.example', 'https://\u24e2ite.example', 'https://site.\u2091xample'],
    ...['https://evil.example\uff0f.site.example', 'https://\u017fite.example', 'https://site.exa\u200dmple'],
    ...['https://evil.example\u2215.apps.example/', 'https://a.\uff41pps.example/', 'https://a\u3002apps.example/'],
    ...['https://evil\uff0ea.apps.example/', 'https://\u00e9.apps.example/', 'https://evil.example\uff03.apps.example/'],
    ...['https://evil.example\uff1f.apps.example/'],
  ]
  const numbers = words(`
    http://2130706433/ http://2130706433:3000/ http://0x7f000001:3000/ http://0x7f.1:3000/x http://0177.0.0.1:3000/
    http://127.1:3000/ http://127.0.1:80/ http://017700000001/ http://127.0.0.1.:3000/ http://0/ http://0.0.0.0:3000/
    http://10.0.0.1/ http://192.168.0.1:3000/ http://169.254.169.254/ http://3232235521/ https://1.1.1.1/ http://[::]/
    http://[::ffff:127.0.0.1]:3000/ http://[::ffff:7f00:1]:3000/ http://[0:0:0:0:0:0:0:1]:3000/ http://[fe80::1]/
    http://[fe80::1%25eth0]/ http://[::1 http://::1/ http://[127.0.0.1]/ https://16843009 https://16843009/ https://0x1010101/
    https://1.1/ com.shop.app://2130706433 com.shop.app://127.1 com.shop.app://0x7f000001 http://127.0.0.1.evil.example:3000/
    http://127.0.0.1:99999/
  `)
  const schemes = [
    ...words(String.raw`
    javascript:alert(1) JaVaScRiPt:alert(1) javascript://site.example/%0aalert(1) javascript://https://site.example
    data:text/html,<script>alert(1)</script> vbscript:x file:///etc/passwd file://site.example/x blob:https://site.example/1
    about:blank ftp://site.example/ ws://site.example wss://site.example/ filesystem:https://site.example/x
    view-source:https://site.example intent://site.example#Intent;end httpss://site.example xhttps://site.example
    https+x://site.example mailto:a@site.example tel:1 com.shop.app:/login com.shop.app:login com.shop.apps://login
    com.shop://login xcom.shop.app://login com.shop.app://login/x com.shop.app://a.b com.shop.app2://x comXshop.app://x
    com.shop.app//x 1com.shop.app://x com.shop.app://login\x
  `),
    ...['com.shop.app://lo gin', ''],
  ]
  const globs = [
    ...words(`
    https://apps.example/ https://a.b.apps.example/ https://evil.example/a.apps.example/ https://evil.example/.apps.example/x
    https://evil?.apps.example/ https://evil#.apps.example/ https://evil:80?.apps.example/ https://evil:443#.apps.example/
    https://a.apps.example.evil.example/ https://a.apps.example:8443/ http://a.apps.example/ https://aXapps.example/
    https://a.appsXexample/ https://a.apps.example https://evil/.apps.example/ https://one.example/callback/
    https://one.example/callback?x=1 https://one.example/ https://one.example/callbackx https://one.example/x/../callback
    https://one.example/./callback https://one.example/%63allback https://one.example:8443/callback http://localhost:30001/
    http://localhost:3000 http://localhost:3000.evil.example/ http://localhost:3000@evil.example/
    http://localhost.evil.example:3000/ http://127.0.0.1/ http://127.0.0.1:x/ http://127.0.0.1:1.evil.example/
  `),
    ...[`https://site.example/${'x'.repeat(9000)}`],
  ]
  const attacks = { elsewhere, userinfo, slashes, blanks, unicode, numbers, schemes, globs }

  test('there are more than two hundred of them', () => {
    expect(new Set(Object.values(attacks).flat()).size).toBeGreaterThan(200)
  })

  for (const [kind, candidates] of Object.entries(attacks))
    test.each(candidates.map((candidate) => [JSON.stringify(candidate).slice(0, 100), candidate]))(
      `${kind}: %s`,
      (_, candidate) => {
        expect(sent(candidate)).toBe(siteUrl)
      },
    )

  test.each([
    ['https://one.example/app/**', 'https://one.example/app/../admin'],
    ['https://one.example/app/**', 'https://one.example/app/%2e%2e/admin'],
    ['https://one.example/app/**', 'https://one.example/app/.%2E/admin'],
    ['https://one.example/app/**', 'https://one.example/app/x/../../admin'],
    ['https://**.mine.example/**', 'https://evil.example/x.mine.example/'],
    ['https://**.mine.example', 'https://evil.example/x.mine.example'],
    ['https://**.mine.example/**', 'https://evil.example?.mine.example/'],
    ['**', 'javascript:alert(1)'],
    ['**', 'data:text/html,x'],
    ['**', 'https://user@evil.example/'],
    ['**', 'https://evil.example\\@site.example'],
    ['**', 'http://169.254.169.254/'],
    ['**', 'http://2852039166/'],
    ['**', '//evil.example'],
    ['**', 'https://evil.example/\r\n'],
    ['javascript:**', 'javascript:alert(1)'],
    ['http://*.*.*.*/**', 'http://10.0.0.1/'],
    ['https://[broken', 'https://[broken'],
    ['', 'https://evil.example'],
  ])('%s does not let %j through', (glob, candidate) => {
    expect(sent(candidate, { list: [glob] })).toBe(siteUrl)
  })

  test.each([
    ['http://localhost:3000', 'http://127.0.0.1:3000/'],
    ['http://localhost:3000', 'http://localhost.evil.example:3000/'],
    ['http://localhost:3000', 'http://x.localhost:3000/'],
    ['http://localhost:3000', 'http://localhost.:3000/'],
    ['https://localhost:3000', 'http://localhost:3000/'],
    ['http://192.168.1.5:3000', 'http://192.168.1.5:3001/'],
    ['http://site.example', 'https://site.example:80/'],
    ['http://[::1]:3000', 'http://[0:0:0:0:0:0:0:1]:3000/'],
    ['com.shop.app://home', 'com.shop.app://other'],
  ])('%s is not the site of %s', (site, candidate) => {
    expect(sent(candidate, { site, list: [] })).toBe(site)
  })
})

describe('candidates', () => {
  test('the first that is acceptable is taken, and the site when none is', () => {
    const good = 'https://site.example/a'
    const other = 'https://site.example/b'
    expect(destination(rules, [good, other])).toBe(good)
    expect(destination(rules, ['https://evil.example', undefined, '', other])).toBe(other)
    expect(destination(rules, [undefined, 'https://evil.example'])).toBe(siteUrl)
    expect(destination(rules, [])).toBe(siteUrl)
  })
})

describe('whatever is asked for', () => {
  const hosts = ['site.example', 'evil.example', 'a.apps.example', 'localhost', '127.0.0.1', '[::1]', '2130706433', 'one.example']
  const piece = fc.constantFrom(
    ...[
      'https:',
      'http:',
      '//',
      '/',
      '\\',
      '@',
      ':',
      '#',
      '?',
      '.',
      '%2e',
      '%2f',
      '\t',
      '\n',
      ' ',
      ':443',
      ':3000',
      'callback',
      'com.shop.app:',
      'javascript:',
    ],
    ...hosts,
  )
  const candidate = fc.oneof(
    fc.array(piece, { maxLength: 9 }).map((pieces) => pieces.join('')),
    fc.webUrl({ withFragments: true, withQueryParameters: true }),
    fc.string({ unit: 'binary' }),
    fc
      .tuple(fc.constantFrom('https://', 'https:\\\\', 'http://', '//'), fc.string(), fc.constantFrom(...hosts), fc.string())
      .map((parts) => parts.join('')),
  )

  test('a browser ends on the site or on something that is listed, over no worse a scheme', () => {
    const known =
      /^(https:\/\/site\.example|https:\/\/[^./]*\.apps\.example|https:\/\/one\.example|http:\/\/localhost:3000|http:\/\/127\.0\.0\.1(:\d+)?|null)$/
    fc.assert(
      fc.property(candidate, (text) => {
        const url = new URL(destination(rules, [text]), 'https://base.example')
        expect(url.origin).toMatch(known)
        if (url.origin === 'null') expect(url.protocol).toBe('com.shop.app:')
        expect(url.username + url.password).toBe('')
      }),
      { numRuns: 20_000 },
    )
  })

  test('what comes out can stand in a header, and coming in again stays as it is', () => {
    fc.assert(
      fc.property(candidate, (text) => {
        const first = destination(rules, [text])
        expect(first).toMatch(/^[\x21-\x7e]+$/)
        expect(destination(rules, [first])).toBe(first)
      }),
      { numRuns: 20_000 },
    )
  })

  test('every page of the site is reachable', () => {
    fc.assert(
      fc.property(fc.webPath(), fc.webQueryParameters(), fc.webFragments(), (path, query, fragment) => {
        const text = `https://site.example${path}?${query}#${fragment}`
        expect(destination(rules, [text])).toBe(text)
      }),
    )
  })
})
