/** The page's only style: light and dark by the reader's setting, two columns where there is room, plain ink on paper. */
const LIGHT = `--ground: #f7f7f4; --card: #ffffff; --ink: #1d2430; --soft: #566170; --line: #d9dde3; --note: #fff4d6; --note-line: #e3c67a; --accent: #2463c9;
  --control: #8a5a00; --treatment: #2463c9; --better: #1c7a52; --worse: #b3311f; --solved: #9ad9b8; --partial: #f3d58a; --failed: #f0aa9c; --unscored: #d3d7de; --tile-ink: #1d2430;
  --unscored-ink: #66707e; --lane-model: #8442b8; --lane-tool: #2463c9; --lane-own: #8d97a5;`;
const DARK = `--ground: #14171c; --card: #1c2027; --ink: #e8ebf0; --soft: #a8b2bf; --line: #363d49; --note: #332a12; --note-line: #7a6326; --accent: #7fb0ff;
  --control: #f0b14a; --treatment: #7fb0ff; --better: #58c795; --worse: #ff8a75; --solved: #23694a; --partial: #7d6322; --failed: #853c31; --unscored: #454d5a; --tile-ink: #f2f4f8;
  --unscored-ink: #98a3b2; --lane-model: #c79bf2; --lane-tool: #7fb0ff; --lane-own: #77818f;`;

export const STYLE = `
:root { color-scheme: light dark; ${LIGHT} }
@media (prefers-color-scheme: dark) { :root { ${DARK} } }
@media print { :root { color-scheme: light; ${LIGHT} --ground: #ffffff; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; }
main { max-width: 1100px; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .4rem; overflow-wrap: anywhere; } h2 { font-size: 1.25rem; margin: 2.4rem 0 .7rem; } h3 { font-size: 1.02rem; margin: 0 0 .2rem; overflow-wrap: anywhere; }
p, li, blockquote, figure { min-width: 0; overflow-wrap: anywhere; } p { margin: .3rem 0; } .soft { color: var(--soft); } code { overflow-wrap: anywhere; font-size: .85em; }
ul { margin: .3rem 0; padding-left: 1.2rem; } li { margin: .15rem 0; }
.note { background: var(--note); border: 1px solid var(--note-line); border-radius: 10px; padding: .7rem 1rem; margin: .8rem 0; }
.banner { font-weight: 700; margin: 0; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1rem 1.1rem; }
.big { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 150px), 1fr)); gap: .8rem; margin: 1rem 0; padding: 0; list-style: none; }
.big b { display: block; font-size: 1.7rem; line-height: 1.25; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.better b { color: var(--better); } .worse b, .invalid b { color: var(--worse); }
.pictures { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1rem; }
figure { margin: .6rem 0 0; } svg { --plot-background: var(--card); display: block; width: 100%; max-width: 100%; height: auto; }
.narrow svg { max-width: 560px; } .wide { display: none; }
.key { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; margin: .5rem 0 .6rem; padding: 0; list-style: none; font-size: .88rem; color: var(--soft); }
.key svg { display: inline-block; width: 18px; height: 12px; margin-right: .4rem; vertical-align: -1px; }
@media (min-width: 860px) { .pictures { grid-template-columns: repeat(2, minmax(0, 1fr)); } .full { grid-column: 1 / -1; } .wide { display: block; } .narrow { display: none; } }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .88rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .34rem .9rem .34rem 0; border-bottom: 1px solid var(--line); vertical-align: top; } thead th { color: var(--soft); font-weight: 600; }
tbody th { font-weight: 600; } td.digest { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .78rem; overflow-wrap: anywhere; min-width: 16rem; }
details { margin-top: .7rem; } summary { cursor: pointer; color: var(--soft); } blockquote { margin: .5rem 0; padding-left: .9rem; border-left: 3px solid var(--accent); white-space: pre-wrap; overflow-wrap: anywhere; }
@media print { body { font-size: 11px; } main { max-width: none; padding: 0; } .card, figure, tr { break-inside: avoid; } h2 { break-after: avoid; } .wide { display: block; } .narrow { display: none; }
  .pictures { grid-template-columns: repeat(2, minmax(0, 1fr)); } .full { grid-column: 1 / -1; } .scroll { overflow: visible; } table { font-size: 9px; } th, td { padding-right: .4rem; overflow-wrap: anywhere; } summary { display: none; } details::details-content { content-visibility: visible; display: block; block-size: auto; } }
`;
