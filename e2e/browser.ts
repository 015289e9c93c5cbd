import { existsSync } from 'node:fs'
import sparticuz from '@sparticuz/chromium'
import { type Browser, chromium } from 'playwright-core'

const systemBrowsers = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** A real browser: the machine's own, or the one that comes as a package. */
export async function openBrowser(): Promise<Browser> {
  const own = systemBrowsers.find((path) => existsSync(path))
  const quiet = [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ]
  if (own) return chromium.launch({ executablePath: own, args: quiet })
  // Made for functions in a cloud, it switches off what these tests look at: several pages, and the rules of the web itself.
  const unwanted = /^--(single-process|no-zygote|disable-web-security|disable-site-isolation|headless)/
  return chromium.launch({
    executablePath: await sparticuz.executablePath(),
    args: [...sparticuz.args.filter((word) => !unwanted.test(word)), ...quiet],
  })
}
