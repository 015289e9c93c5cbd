/** What the demo shop knows of the services around it. */
export type ShopFacts = {
  /** Where the shop itself is. */
  url: string
  /** Where browsers find the payments service. */
  service: string
  /** What payment links begin with. */
  posUrl: string
  /** The shop's public key. */
  key: string
  /** With which its server asks for transactions. */
  appKey: string
}
