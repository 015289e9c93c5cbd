import { apple } from './apple.ts'
import { azure } from './azure.ts'
import { bitbucket } from './bitbucket.ts'
import { discord } from './discord.ts'
import { facebook } from './facebook.ts'
import { figma } from './figma.ts'
import { fly } from './fly.ts'
import { github } from './github.ts'
import { gitlab } from './gitlab.ts'
import { google } from './google.ts'
import { kakao } from './kakao.ts'
import { keycloak } from './keycloak.ts'
import { linkedin } from './linkedin.ts'
import { linkedinOidc } from './linkedin-oidc.ts'
import { notion } from './notion.ts'
import type { OAuth1Provider } from './oauth1.ts'
import type { Provider } from './provider.ts'
import { slack } from './slack.ts'
import { slackOidc } from './slack-oidc.ts'
import { snapchat } from './snapchat.ts'
import { spotify } from './spotify.ts'
import { twitch } from './twitch.ts'
import { twitter } from './twitter.ts'
import { workos } from './workos.ts'
import { x } from './x.ts'
import { zoom } from './zoom.ts'

/** Every external provider, in the order in which `GET /settings` lists them. */
export const providers: readonly (Provider | OAuth1Provider)[] = [
  apple,
  azure,
  bitbucket,
  discord,
  facebook,
  snapchat,
  figma,
  fly,
  github,
  gitlab,
  google,
  keycloak,
  kakao,
  linkedin,
  linkedinOidc,
  notion,
  spotify,
  slack,
  slackOidc,
  workos,
  twitch,
  twitter,
  x,
  zoom,
]
