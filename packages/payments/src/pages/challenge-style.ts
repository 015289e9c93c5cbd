/** Sized for the smallest window of 3-D Secure, 250 by 400 pixels, and at ease in larger ones. */
export const challengeStyle = `
:root { color-scheme: light dark; --page: #f5f6f9; --card: #ffffff; --line: #e0e4ec; --edge: #767f93; --ink: #1c2230; --quiet: #5b6478; --accent: #3a4fd8; --pressed: #2f41b8; --label: #ffffff; --mark: #7a4b00; --tint: #fff3d6; --good: #176b3a; --bad: #a3262f }
@media (prefers-color-scheme: dark) {
  :root { --page: #12151c; --card: #1a1e28; --line: #2b3140; --edge: #8a93a8; --ink: #e6e9f0; --quiet: #98a1b5; --accent: #92a1ff; --pressed: #adb8ff; --label: #12151c; --mark: #ffd27a; --tint: #3a2f16; --good: #6fd79a; --bad: #ff9d9d }
}
* { box-sizing: border-box }
html { min-height: 100%; background: var(--page) }
body { display: flex; min-height: 100vh; margin: 0; color: var(--ink); font: 15px/21px -apple-system, BlinkMacSystemFont, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif; overflow-wrap: anywhere; -webkit-text-size-adjust: 100% }
main { width: 100%; max-width: 420px; margin: auto; padding: 12px 14px }
header { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 4px 8px }
.bank { display: flex; align-items: center; gap: 7px; font-weight: 650 }
svg { width: 22px; height: 22px; flex: none; fill: var(--accent) }
.mark { padding: 1px 8px; border: 1px solid currentColor; border-radius: 999px; background: var(--tint); color: var(--mark); font-size: 12px; line-height: 17px; font-weight: 600 }
h1 { margin: 12px 0 8px; font-size: 19px; line-height: 24px; font-weight: 650; letter-spacing: -0.01em }
dl { margin: 0; padding: 4px 12px; background: var(--card); border: 1px solid var(--line); border-radius: 10px }
dl > div { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 12px; padding: 6px 0 }
dl > div + div { border-top: 1px solid var(--line) }
dt { color: var(--quiet) }
dd { margin: 0; min-width: 0; font-weight: 550 }
.amount dd { font-size: 18px; font-weight: 700; font-variant-numeric: tabular-nums }
p { margin: 0 }
#told { margin-top: 10px; font-weight: 600; text-align: center; outline: none }
#told:empty, .approve .note, .fail .note { display: none }
.approve #told { color: var(--good) }
.fail #told { color: var(--bad) }
.choice { display: flex; flex-wrap: wrap; gap: 8px; margin-top: 12px }
button { flex: 1 1 auto; min-width: 100px; min-height: 44px; padding: 8px 10px; border: 1px solid var(--edge); border-radius: 8px; background: var(--card); color: var(--ink); font: inherit; font-weight: 600; overflow-wrap: normal; cursor: pointer }
button:hover { border-color: var(--accent) }
.confirm { border-color: transparent; background: var(--accent); color: var(--label) }
.confirm:hover, .confirm:active { background: var(--pressed) }
button:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
button:disabled { opacity: 0.45; cursor: default }
.note { margin-top: 10px; color: var(--quiet); font-size: 13px; line-height: 18px }
@media (min-width: 360px) {
  main { padding: 24px }
  h1 { margin: 18px 0 12px; font-size: 22px; line-height: 28px }
  .note { margin-top: 14px }
}`
