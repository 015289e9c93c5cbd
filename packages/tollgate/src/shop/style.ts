/** The shop's own look: it is not Tollgate, it only takes payments with it. */
export const style = `
:root {
  color-scheme: light dark; --paper: light-dark(#faf6ef, #141916); --card: light-dark(#fffdf9, #1c2320);
  --tile: light-dark(#efe7d9, #26302b); --ink: light-dark(#22302a, #e9ebe4); --quiet: light-dark(#5d6a62, #a3aea6);
  --line: light-dark(#e2d9c9, #313b35); --leaf: light-dark(#2f5d4a, #8fc7a7); --on-leaf: light-dark(#fff, #10201a);
  --note: light-dark(#f6e7c8, #3a3220)
}
* { box-sizing: border-box }
[hidden] { display: none !important }
body { margin: 0; font: 1rem/1.6 system-ui, sans-serif; color: var(--ink); background: var(--paper) }
h1, h2, h3, p, ul, dl, dd, pre, figure { margin: 0 }
ul { padding: 0; list-style: none }
h1, h2, h3, .brand { font-family: 'Iowan Old Style', 'Palatino Linotype', Palatino, Georgia, serif; font-weight: 600; line-height: 1.2 }
h1 { font-size: clamp(2rem, 1.3rem + 3.4vw, 3.4rem); letter-spacing: -.02em }
h2 { font-size: 1.5rem } h3 { font-size: 1.15rem }
a { color: var(--leaf); text-underline-offset: .2em }
:focus-visible { outline: 3px solid var(--leaf); outline-offset: 3px; border-radius: .3rem }
code, pre { font: .875rem/1.6 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace }
code { overflow-wrap: anywhere }
.quiet { color: var(--quiet) }
.skip { position: absolute; left: -100vw }
.skip:focus { left: 1rem; top: 1rem; z-index: 1; padding: .5rem 1rem; background: var(--card) }
.wide { width: min(100% - 2.5rem, 70rem); margin-inline: auto }

.note { padding: .55rem 0; font-size: .9rem; background: var(--note) }
.note .wide { display: flex; flex-wrap: wrap; justify-content: space-between; gap: .1rem 2rem }
.top { display: flex; align-items: center; gap: .7rem; padding-block: 1.4rem }
.brand { display: flex; align-items: center; gap: .6rem; font-size: 1.35rem; color: inherit; text-decoration: none }
.brand svg { width: 2.4rem; height: 2.4rem; flex: none }
.lead { padding-block: clamp(1.5rem, 5vw, 4rem) clamp(2rem, 5vw, 3.5rem) }
.lead code, .price { white-space: nowrap }
.lead p { max-width: 40rem; margin-top: .9rem; font-size: 1.1rem; color: var(--quiet) }

.goods { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(17rem, 100%), 1fr)); gap: 1.5rem }
.good { display: flex; flex-direction: column; overflow: hidden; border: 1px solid var(--line); border-radius: 1rem; background: var(--card) }
.good svg { display: block; width: 100%; height: 13rem; padding: 1.2rem; background: var(--tile) }
.good > div { display: flex; flex-direction: column; flex: 1; padding: 1.2rem 1.3rem 1.3rem }
.good p { margin-top: .2rem }
.buy { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .6rem 1rem; margin-top: auto; padding-top: 1rem }
.price { font-size: 1.15rem; font-variant-numeric: tabular-nums }
button, .button {
  display: inline-flex; align-items: center; justify-content: center; min-height: 2.75rem; padding: .3rem 1.4rem; font: inherit; font-weight: 600;
  color: var(--on-leaf); background: var(--leaf); border: 0; border-radius: 2rem; text-decoration: none; cursor: pointer
}
button:hover, .button:hover { background: color-mix(in oklab, var(--leaf), var(--ink) 22%) }
button[disabled] { opacity: .55; cursor: default }
.button.plain { color: var(--leaf); background: none; box-shadow: inset 0 0 0 2px var(--leaf) }

.ways { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(24rem, 100%), 1fr)); gap: 1.5rem; margin-top: 1.5rem }
.way { display: flex; flex-wrap: wrap; align-items: center; gap: 1.5rem; padding: 1.6rem; border: 1px solid var(--line); border-radius: 1rem; background: var(--card) }
.way > div { flex: 1 1 13rem; min-width: 0 }
.way > .qr { flex: none }
.way p { margin-top: .3rem }
.way .buy { justify-content: flex-start; padding-top: 1.2rem }
.way svg { flex: none; width: 9rem; height: 9rem; border-radius: .8rem }
.way > svg { padding: .6rem; background: var(--tile) }
.qr { border-radius: .8rem; overflow: hidden; line-height: 0 }
.behind { margin-top: 3.5rem }
.behind p { max-width: 42rem; margin-top: .4rem }
pre { margin-top: 1rem; padding: 1.1rem 1.3rem; overflow: auto; border: 1px solid var(--line); border-radius: .8rem; background: var(--card) }
pre.command { white-space: pre-wrap; overflow-wrap: anywhere }
footer { margin-top: 4rem; padding-block: 1.5rem; border-top: 1px solid var(--line); font-size: .9rem; color: var(--quiet) }

#said {
  position: fixed; left: 50%; bottom: 1.25rem; translate: -50% 0; width: max-content; max-width: calc(100% - 2rem); padding: .7rem 1.2rem;
  border-radius: .8rem; color: var(--paper); background: var(--ink); box-shadow: 0 6px 24px #0004
}
#said:empty { display: none }

.order { width: min(100% - 2.5rem, 44rem); margin-inline: auto; padding-block: clamp(1rem, 4vw, 3rem) 1rem }
.order .tick { width: 3.5rem; height: 3.5rem; margin-bottom: 1rem }
.order > p { margin-top: .7rem }
.order dl { margin-block: 2rem; border: 1px solid var(--line); border-radius: 1rem; background: var(--card) }
.order dl div { display: flex; flex-wrap: wrap; justify-content: space-between; gap: .1rem 2rem; padding: .8rem 1.2rem; border-top: 1px solid var(--line) }
.order dl div:first-child { border-top: 0 }
.order dt { color: var(--quiet) }
.order dd { font-variant-numeric: tabular-nums; overflow-wrap: anywhere }
.order h2 { margin-top: 2.5rem }
.order .back { margin-top: 2.5rem }
`
