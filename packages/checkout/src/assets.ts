import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { bundle } from './bundle.ts'
import type { Files, Loaded } from './frame.ts'

/** A file under a name that changes with its content, so that it can be kept for ever. */
export type Asset = {
  name: string
  type: 'text/javascript' | 'text/css' | 'image/svg+xml'
  integrity: string
  plain: Buffer
  br: Buffer
  gzip: Buffer
}

type Assets = { script: Asset; style: Asset; icon: Asset }

let made: Promise<Assets> | undefined

function assets(): Promise<Assets> {
  made ??= make().catch((problem) => {
    made = undefined
    throw problem
  })
  return made
}

async function make(): Promise<Assets> {
  const { script, style } = await bundle()
  const [first, second, third] = await Promise.all([
    assetOf('page', 'js', 'text/javascript', script),
    assetOf('page', 'css', 'text/css', style),
    assetOf('icon', 'svg', 'image/svg+xml', icon),
  ])
  return { script: first, style: second, icon: third }
}

async function assetOf(stem: string, ending: string, type: Asset['type'], text: string): Promise<Asset> {
  const plain = Buffer.from(text)
  const hash = createHash('sha384').update(plain).digest()
  const [br, zipped] = await Promise.all([promisify(brotliCompress)(plain), promisify(gzip)(plain, { level: 9 })])
  const name = `${stem}-${hash.toString('hex').slice(0, 16)}.${ending}`
  return { name, type, integrity: `sha384-${hash.toString('base64')}`, plain, br, gzip: zipped }
}

/** The colours of one merchant: the button's, and that of what stands on it. */
export type Accent = { color: string; text: string }

/** A style sheet of its own for every colour: a page may hold no styles. The name tells the content, so that nothing has to be kept. */
function accentAsset({ color, text }: Accent): Promise<Asset> {
  const [own, on] = [color.slice(1).toLowerCase(), text.slice(1).toLowerCase()]
  return assetOf(`accent-${own}-${on}`, 'css', 'text/css', `:root{--accent:#${own};--on-accent:#${on}}\n`)
}

/** The files of a page, with where they are served. */
export async function filesFor(accent: Accent | undefined, place: string): Promise<Files> {
  const { script, style, icon } = await assets()
  const loaded = ({ name, integrity }: Asset): Loaded => ({ path: `${place}/${name}`, integrity })
  return {
    script: loaded(script),
    style: loaded(style),
    icon: loaded(icon),
    accent: accent && loaded(await accentAsset(accent)),
  }
}

export async function findAsset(name: string): Promise<Asset | undefined> {
  const [, color, text] = /^accent-([0-9a-f]{6})-([0-9a-f]{6})-[0-9a-f]{16}\.css$/.exec(name) ?? []
  const candidates =
    color === undefined ? Object.values(await assets()) : [await accentAsset({ color: `#${color}`, text: `#${text}` })]
  return candidates.find((each) => each.name === name)
}

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect x="2" y="6" width="28" height="20" rx="4" fill="#3a4fd8"/><path d="M2 11h28v4H2z" fill="#1c2a8a"/><path d="M6 20h8" stroke="#fff" stroke-width="2" stroke-linecap="round"/></svg>`
