import type { ShopFacts } from '../shop/facts.ts'

/** What the welcome page tells: `dev` knows it, the pages only show it. */
export type Facts = {
  version: string
  services: { name: string; title: string; url: string; docs: string; openapi: string }[]
  keys: { name: string; value: string; explanation: string }[]
  database: string
  smtp: { host: string; port: number }
  /** Where an SMS is posted to. */
  sms: string
  /** Where a sign-in with the test provider begins; left out where the developer has chosen other providers. */
  testSignIn?: string | undefined
  /** The demo shop, where there is one. */
  shop?: ShopFacts | undefined
  firstSteps: { title: string; command: string }[]
  dataFolder: string
}
