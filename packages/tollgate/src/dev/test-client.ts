/**
 * What the identity service is to the test provider. Written here for everybody to read: the provider lets anybody in as whomever
 * they like, and answers this machine only.
 */
export const testClient = { id: 'tollgate-development', secret: 'worth-nothing-outside-of-this-machine' }

/** As `provider=` names it. */
export const testProviderName = 'custom:test'

/** What AUTH_EXTERNAL_CUSTOM_PROVIDERS says of it. */
export function testProviderSetting(port: number | string): string {
  return JSON.stringify([
    {
      identifier: testProviderName,
      name: 'Test provider',
      issuer: `http://localhost:${port}`,
      client_id: testClient.id,
      client_secret: testClient.secret,
      scopes: ['openid', 'email', 'profile'],
      pkce_enabled: true,
    },
  ])
}

/** A developer who lists providers of their own may leave this one out. */
export function offersTestProvider(setting: string | undefined): boolean {
  try {
    const listed: unknown = JSON.parse(setting || '[]')
    return Array.isArray(listed) && listed.some((each) => each?.identifier === testProviderName)
  } catch {
    // The identity service says what is wrong with it.
    return false
  }
}
