/** The colours are those of the services' documentation pages. */
export const style = `
:root {
  color-scheme: light dark; --ink: light-dark(#1c2230, #e6e9f0); --paper: light-dark(#fff, #12151c);
  --soft: light-dark(#f5f6f9, #1a1e28); --line: light-dark(#e0e4ec, #2b3140); --quiet: light-dark(#5b6478, #98a1b5);
  --accent: light-dark(#3a4fd8, #92a1ff); --on-accent: light-dark(#fff, #12151c); --edge: light-dark(#8a93a8, #6a7489);
  --well: light-dark(#0b6b45, #5bd6a0); --ill: light-dark(#b3261e, #ff8f86); --tint: light-dark(#eef0fd, #20263f)
}
* { box-sizing: border-box }
[hidden] { display: none !important }
body { margin: 0; font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper) }
a { color: var(--accent); text-underline-offset: .2em }
h1, h2, h3, p, ul, ol, dl, dd, pre { margin: 0 }
ul, ol { padding: 0; list-style: none }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: .3rem }
code, pre { font: .875rem/1.6 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere }
pre { white-space: pre-wrap }
.quiet { color: var(--quiet); font-size: .925rem }
.spoken { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
.skip { position: absolute; left: -100vw }
.skip:focus { left: 1rem; top: 1rem; z-index: 1; padding: .5rem 1rem; background: var(--paper) }

.top { border-bottom: 1px solid var(--line); background: var(--soft) }
.top > div, main { width: min(100% - 2.5rem, 66rem); margin-inline: auto }
.top > div {
  display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 2rem; min-height: 3.75rem; padding-block: .5rem
}
.brand { display: flex; align-items: center; gap: .6rem; font-weight: 650; color: inherit; text-decoration: none }
.brand img { display: block }
.brand small { font-weight: 400; color: var(--quiet) }
.top nav { display: flex; gap: .25rem; margin-left: -.75rem }
.top nav a {
  display: flex; align-items: center; gap: .45rem; padding: .35rem .75rem; border-radius: .5rem; color: var(--quiet);
  text-decoration: none
}
.top nav a:hover { color: var(--ink) }
.top nav a[aria-current] { color: var(--ink); font-weight: 600; background: var(--line) }
.count {
  min-width: 1.4rem; padding: 0 .4rem; border-radius: 1rem; font-size: .75rem; line-height: 1.4rem; text-align: center;
  font-weight: 600; background: var(--accent); color: var(--on-accent)
}
#lost { padding: .6rem 1.25rem; text-align: center; background: var(--ill); color: var(--on-accent) }

main { padding-block: 3rem 5rem }
h1 { font-size: clamp(1.5rem, 1.2rem + 1.6vw, 2rem); line-height: 1.25; letter-spacing: -.015em; overflow-wrap: anywhere }
h1 + p { margin-top: .5rem }
main > section, #arrival section {
  display: grid; grid-template-columns: 15rem minmax(0, 1fr); gap: 1rem 3rem; padding-block: 2.25rem;
  border-top: 1px solid var(--line)
}
h1 + p + section, header + section, #arrival section:first-child { margin-top: 2.5rem }
h2 { font-size: 1.05rem; line-height: 1.4 }
section > header p { margin-top: .3rem; color: var(--quiet); font-size: .875rem }
h3 { font-size: 1rem; font-weight: 600 }

.button, button {
  display: inline-flex; align-items: center; justify-content: center; gap: .4rem; min-height: 2rem; padding: .2rem .75rem;
  font: inherit; font-size: .875rem; font-weight: 550; text-decoration: none; white-space: nowrap; color: var(--ink);
  background: var(--paper); border: 1px solid var(--edge); border-radius: .5rem; cursor: pointer;
  transition: border-color .12s, color .12s
}
.button:hover, button:hover { border-color: var(--accent); color: var(--accent) }
.primary { color: var(--on-accent); background: var(--accent); border-color: var(--accent) }
.primary:hover { color: var(--on-accent); background: color-mix(in oklab, var(--accent), var(--ink) 18%) }
.copy { display: none; min-width: 5.1rem; flex: none; border-color: var(--line) }
.copies .copy { display: inline-flex }

.services { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(17rem, 100%), 1fr)); gap: 1rem }
.services li { padding: 1.1rem 1.25rem; border: 1px solid var(--line); border-radius: .75rem }
.services p { margin-block: .15rem .7rem }
.services > li > div { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: 0 1rem }
.services ul { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; font-size: .925rem }
.services ul li { padding: 0; border: 0 }
.health { display: inline-flex; align-items: center; gap: .45rem; font-size: .8125rem; font-weight: 500; color: var(--ill) }
.health::before { content: ''; width: .55rem; height: .55rem; border-radius: 50%; background: currentcolor }
.health[data-healthy=true] { color: var(--well) }

.list { display: grid; gap: 1.75rem }
.value {
  display: flex; align-items: flex-start; gap: .75rem; margin-top: .6rem; padding: .5rem .5rem .5rem .9rem;
  border-radius: .6rem; background: var(--soft); border: 1px solid var(--line)
}
.value > :first-child { flex: 1; min-width: 0; padding-block: .25rem }
.value pre::before { content: '$ '; color: var(--quiet); user-select: none }
summary { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 .75rem; cursor: pointer; list-style: none }
summary::-webkit-details-marker { display: none }
summary .toggle { font-size: .875rem; color: var(--accent); text-decoration: underline; text-underline-offset: .2em }
summary .toggle::after { content: 'Show' }
[open] > summary .toggle::after { content: 'Hide' }
[open] > summary .masked { display: none }
.masked { color: var(--quiet) }
details[open] > code { display: block; margin-top: .35rem }
.content > * + * { margin-top: .9rem }
.content > .value:first-child { margin-top: 0 }
dt { font-size: .875rem; color: var(--quiet) }
dd + dt { margin-top: .75rem }

.bar {
  display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .75rem 2rem;
  margin-bottom: 1.75rem
}
.bar p { margin-top: .25rem }
.messages {
  display: grid; grid-template-columns: minmax(0, 1fr) auto auto; border: 1px solid var(--line); border-radius: .75rem;
  overflow: hidden
}
.messages li {
  display: grid; grid-template-columns: subgrid; grid-column: 1 / -1; align-items: center; padding-right: 1.1rem;
  border-top: 1px solid var(--line)
}
.messages .code { grid-column: 2; margin-left: 1.5rem; justify-content: space-between }
.messages li > .button { grid-column: 3; margin-left: 1rem }
.messages li:first-child { border-top: 0 }
.messages li:hover { background: var(--soft) }
.messages li > a:first-child {
  display: grid; grid-template-columns: minmax(0, 13rem) minmax(0, 1fr) auto; gap: 0 1.5rem; align-items: baseline;
  padding: .85rem 0 .85rem 1.1rem; color: inherit; text-decoration: none
}
.messages a:first-child:focus-visible { outline-offset: -3px }
.messages .to, .messages .subject, .messages .start { overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
.messages .to { color: var(--quiet); font-size: .925rem }
.messages .subject { display: block; font-weight: 600 }
.messages .start { display: block; font-size: .875rem; color: var(--quiet) }
.messages .sms .to { color: var(--ink); font-variant-numeric: tabular-nums; white-space: normal; overflow-wrap: anywhere }
.kind {
  margin-right: .25rem; padding: .1rem .4rem; border-radius: .35rem; font-size: .6875rem; font-weight: 650;
  letter-spacing: .05em; background: var(--accent); color: var(--on-accent)
}
.bubble {
  display: block; width: fit-content; padding: .4rem .85rem; border-radius: 1rem 1rem 1rem .25rem;
  background: var(--tint); overflow-wrap: anywhere
}
.messages .bubble { font-size: .925rem }
.messages .bubble bdi { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 4; overflow: hidden }
p.bubble { max-width: 34rem; white-space: pre-wrap }
.code { display: flex; flex-wrap: wrap; align-items: center; gap: .35rem .75rem }
.code code { font-size: 1.5rem; line-height: 2rem; font-weight: 600; letter-spacing: .06em; user-select: all }
.code .copy:not(:hover) { border-color: var(--edge) }
.content .code code { font-size: 2.25rem; line-height: 2.75rem }
time { color: var(--quiet); font-size: .875rem; font-variant-numeric: tabular-nums; white-space: nowrap }
.arrived { animation: arrive 2.5s ease-out }
@keyframes arrive {
  from { background: var(--tint) }
}
.empty { padding: 3rem 1.5rem; border: 1px dashed var(--edge); border-radius: .75rem }
.empty > * { max-width: 42rem; margin-inline: auto }
.empty p { margin-top: .35rem }
.empty .value + p { margin-top: 1.75rem }
.empty p + .value { margin-top: .75rem }

.back { display: inline-block; margin-bottom: 1rem; font-size: .925rem; text-decoration: none }
.back:hover { text-decoration: underline }
.envelope {
  display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .2rem 1.25rem; margin-top: 1rem; font-size: .925rem
}
.envelope dt { margin: 0; font-size: inherit }
.envelope dd { overflow-wrap: anywhere }
.envelope time { color: inherit; font-size: inherit }
.links li { display: flex; align-items: center; gap: .75rem 1rem; padding-block: .45rem }
.links code { flex: 1; min-width: 0; color: var(--quiet); font-size: .8125rem; word-break: break-all }
iframe {
  display: block; width: 100%; height: 26rem; resize: vertical; border: 1px solid var(--line); border-radius: .75rem;
  background: #fff; color-scheme: light
}
.text, .source {
  padding: 1.1rem 1.25rem; border: 1px solid var(--line); border-radius: .75rem; background: var(--soft); overflow: auto
}
.text { font: 1rem/1.6 system-ui, sans-serif }
.source { margin-top: .9rem; max-height: 34rem; font-size: .8125rem }
.ways { display: flex; flex-wrap: wrap; gap: .6rem; margin-top: 1.75rem }
.lone { padding-block: 3rem; text-align: center }
.lone p { margin: .75rem auto 1.5rem }

@media (max-width: 50rem) {
  main { padding-block: 2rem 4rem }
  main > section, #arrival section { grid-template-columns: minmax(0, 1fr); padding-block: 1.75rem }
  .top > div, main { width: min(100% - 2rem, 66rem) }
}
@media (max-width: 60rem) {
  .messages { display: block }
  .messages li { display: flex; flex-wrap: wrap; gap: .6rem 1.5rem; padding: 0 1.1rem .85rem }
  .messages li > a:first-child {
    flex: 0 0 calc(100% + 2.2rem); grid-template-columns: minmax(0, 1fr) auto; gap: .1rem 1rem; margin-inline: -1.1rem;
    padding: .85rem 1.1rem 0
  }
  .messages .about { grid-row: 2; grid-column: 1 / -1 }
  .messages .bubble { margin-top: .3rem }
  .messages .code, .messages li > .button { margin: 0 }
}
@media (max-width: 30rem) {
  .value { flex-direction: column; padding: .6rem .75rem .75rem }
  .value > :first-child { width: 100% }
  .links li { flex-wrap: wrap }
  .links code { flex-basis: 100%; order: -1 }
  .empty { padding: 2rem 1rem }
  .empty .value { text-align: left }
}
@media (prefers-reduced-motion: reduce) {
  * { animation: none !important; transition: none !important }
}
`
