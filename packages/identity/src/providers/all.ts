/** Every external provider, in the order in which `GET /settings` lists them. */
export const providers = [
  { name: 'apple' },
  { name: 'azure' },
  { name: 'bitbucket' },
  { name: 'discord' },
  { name: 'facebook' },
  { name: 'snapchat' },
  { name: 'figma' },
  { name: 'fly' },
  { name: 'github' },
  { name: 'gitlab', base: 'https://gitlab.com' },
  { name: 'google' },
  { name: 'keycloak', needsBase: true },
  { name: 'kakao' },
  { name: 'linkedin' },
  { name: 'linkedin_oidc' },
  { name: 'notion' },
  { name: 'spotify' },
  { name: 'slack' },
  { name: 'slack_oidc' },
  { name: 'workos' },
  { name: 'twitch' },
  { name: 'twitter' },
  { name: 'x' },
  { name: 'zoom' },
] as const satisfies readonly { name: string; base?: string; needsBase?: true }[]

export type ProviderName = (typeof providers)[number]['name']
