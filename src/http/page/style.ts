/** The one style sheet, within the page. Phone first; dark where the reader's system is. */
export const STYLE_SHEET = `
:root{color-scheme:light dark;--page:#f3f5f8;--card:#fff;--ink:#18212c;--soft:#556070;--line:#dbe1e8;--link:#0b57b0;
--offline:#b42318;--unknown:#515c69;--degraded:#8f5200;--online:#1a7441;--offline-tint:#fdecea;--unknown-tint:#e9edf1;--degraded-tint:#fdf2dd;--online-tint:#e5f4ea}
@media (prefers-color-scheme:dark){:root{--page:#11161b;--card:#1a2028;--ink:#e7ebf0;--soft:#a2aebb;--line:#303945;--link:#84bbf8;
--offline:#ff948a;--unknown:#b8c3cf;--degraded:#f1bd5c;--online:#74d192;--offline-tint:#3b1e1c;--unknown-tint:#29313a;--degraded-tint:#352a14;--online-tint:#17301f}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:anywhere;-webkit-text-size-adjust:100%}
header,main,footer{max-width:72rem;margin:0 auto;padding:0 1rem}
main:focus{outline:none}
a{color:var(--link);text-underline-offset:.15em}
:focus-visible{outline:3px solid var(--link);outline-offset:2px;border-radius:3px}
.skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:.5rem;background:var(--card);padding:.5rem}
header nav{display:flex;flex-wrap:wrap;gap:0 1rem;align-items:baseline;padding:.6rem 0}
header a{display:inline-block;padding:.35rem 0;text-decoration:none;color:var(--soft)}
header a:hover{text-decoration:underline}header a[aria-current]{color:var(--ink);text-decoration:underline;text-decoration-thickness:2px}
.brand{font-weight:700;color:var(--ink);margin-right:auto}
h1{font-size:1.45rem;line-height:1.3;margin:0}h2{font-size:1.05rem;margin:2rem 0 .6rem}
.lead{background:var(--card);border:1px solid var(--line);border-left:6px solid var(--soft);border-radius:8px;padding:1rem 1.1rem;margin:.4rem 0 1.2rem}
.lead p{margin:.5rem 0 0}.lead.bad{border-left-color:var(--offline)}.lead.warn{border-left-color:var(--degraded)}.lead.good{border-left-color:var(--online)}.lead.unknown{border-left-style:double;border-left-color:var(--unknown)}
.soft,.pager{color:var(--soft)}
.s{display:inline-block;border-radius:5px;padding:0 .45em;font-weight:600;overflow-wrap:normal;white-space:nowrap}
.s.offline{color:var(--offline);background:var(--offline-tint)}.s.unknown{color:var(--unknown);background:var(--unknown-tint)}
.s.degraded{color:var(--degraded);background:var(--degraded-tint)}.s.online{color:var(--online);background:var(--online-tint)}
.tiles{list-style:none;margin:0;padding:0;display:grid;gap:.7rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,15rem),1fr))}
.tiles li{background:var(--card);border:1px solid var(--line);border-top:4px solid var(--line);border-radius:8px;padding:.65rem .8rem .75rem}
.tiles>.offline{border-top-color:var(--offline)}.tiles>.unknown{border-top-style:double;border-top-color:var(--unknown)}.tiles>.degraded,.tiles>.alerts{border-top-color:var(--degraded)}.tiles>.online{border-top-color:var(--online)}
.tiles a{font-weight:600}.tiles p{margin:.35rem 0 0}.tiles .s{margin:.1rem 0}
table{border-collapse:separate;border-spacing:0;width:100%;background:var(--card);border:1px solid var(--line);border-radius:8px}
th,td{text-align:left;vertical-align:top;padding:.5rem .8rem;border-top:1px solid var(--line)}
thead th{border-top:0;color:var(--soft);font-weight:600;font-size:.875rem}
tbody th{font-weight:600}td small,th small{display:block;color:var(--soft);font-weight:400;font-size:.875rem}
td i{display:none;font-style:normal;color:var(--soft)}
.t,time{white-space:nowrap}
.n{text-align:right;font-variant-numeric:tabular-nums}
dl{display:grid;grid-template-columns:minmax(6.5rem,max-content) 1fr;gap:.4rem 1rem;margin:0;background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.9rem 1.1rem}
dt{color:var(--soft)}dd{margin:0}
.pager{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;margin:.8rem 0}
form{display:flex;flex-wrap:wrap;gap:.6rem;align-items:end;margin:0 0 1.2rem}
label{flex:1 1 14rem;font-weight:600}
input,button{font:inherit;color:inherit;padding:.55rem .7rem;border:1px solid var(--soft);border-radius:6px;background:var(--card)}
input{display:block;width:100%;margin-top:.25rem}button{font-weight:600;cursor:pointer}
footer{color:var(--soft);font-size:.875rem;padding-top:1.5rem;padding-bottom:2.5rem}
.hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
@media (max-width:44rem){thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
table,tbody{display:block}tbody tr{display:flex;flex-wrap:wrap;gap:.1rem .9rem;padding:.6rem .8rem;border-top:1px solid var(--line)}tbody tr:first-child{border-top:0}
tbody th,tbody td{display:block;padding:0;border:0;text-align:left}tbody th{flex:0 0 100%}td:empty{display:none}td i{display:inline}td small{display:inline;margin-left:.25rem}}
@media (forced-colors:active){.s,.tiles li,.lead{border-color:CanvasText}}
`;
