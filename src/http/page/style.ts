/** The one style sheet, within the page. Phone first; dark where the reader's system is. */
export const STYLE_SHEET = `
:root{color-scheme:light dark;--page:#f3f5f8;--card:#fff;--ink:#18212c;--soft:#556070;--line:#dbe1e8;--link:#0b57b0;--on:#fff;--sunk:#eaeef3;
--offline:#b42318;--unknown:#515c69;--degraded:#8f5200;--online:#1a7441;--offline-tint:#fdecea;--unknown-tint:#e9edf1;--degraded-tint:#fdf2dd;--online-tint:#e5f4ea;--bar-online:#4fae78;--bar-degraded:#e0a33c;--bar-offline:#d6564a;--bar-unknown:#c3ccd6}
@media (prefers-color-scheme:dark){:root{--page:#11161b;--card:#1a2028;--ink:#e7ebf0;--soft:#a2aebb;--line:#303945;--link:#84bbf8;--on:#0b1622;--sunk:#222a34;
--offline:#ff948a;--unknown:#b8c3cf;--degraded:#f1bd5c;--online:#74d192;--offline-tint:#3b1e1c;--unknown-tint:#29313a;--degraded-tint:#352a14;--online-tint:#17301f;--bar-online:#3f9a68;--bar-degraded:#d0902c;--bar-offline:#e0645a;--bar-unknown:#3b4653}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:anywhere;-webkit-text-size-adjust:100%}
header,main,footer{max-width:72rem;margin:0 auto;padding:0 1rem}
main:focus{outline:none}
a{color:var(--link);text-underline-offset:.15em}
:focus-visible{outline:3px solid var(--link);outline-offset:2px;border-radius:3px}
.skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:.5rem;background:var(--card);padding:.5rem;z-index:2}
header{display:flex;flex-wrap:wrap;gap:0 1.2rem;align-items:baseline;padding-top:.6rem;padding-bottom:.6rem}
header nav{display:flex;flex-wrap:wrap;gap:0 1rem;align-items:baseline;flex:1}
header a{display:inline-block;padding:.35rem 0;text-decoration:none;color:var(--soft)}
header a:hover{text-decoration:underline}header a[aria-current]{color:var(--ink);text-decoration:underline;text-decoration-thickness:2px}
.brand{font-weight:700;color:var(--ink);margin-right:auto}
.who{margin:0;color:var(--soft)}
h1{font-size:1.45rem;line-height:1.3;margin:0}h2{font-size:1.05rem;margin:2rem 0 .6rem}h3{font-size:1.05rem;line-height:1.35;margin:0}
.lead{position:relative;background:var(--card);border:1px solid var(--line);border-left:6px solid var(--soft);border-radius:10px;padding:1rem 1.1rem 1rem 3.6rem;margin:.4rem 0 1.2rem}
.lead::before{position:absolute;left:1.1rem;top:1.05rem;width:1.75rem;height:1.75rem;border-radius:50%;text-align:center;line-height:1.75rem;font-weight:700;font-size:1rem}
.lead p{margin:.4rem 0 0}.lead.bad{border-left-color:var(--offline)}.lead.warn{border-left-color:var(--degraded)}.lead.good{border-left-color:var(--online)}.lead.unknown{border-left-style:double;border-left-color:var(--unknown)}
.lead.bad::before{content:"✕"/"";color:var(--offline);background:var(--offline-tint)}.lead.warn::before{content:"▲"/"";color:var(--degraded);background:var(--degraded-tint)}.lead.good::before{content:"✓"/"";color:var(--online);background:var(--online-tint)}.lead.unknown::before{content:"?"/"";color:var(--unknown);background:var(--unknown-tint)}
.soft,.pager{color:var(--soft)}
small{color:var(--soft);font-weight:400;font-size:.875rem}
.s{display:inline-block;border-radius:5px;padding:0 .45em;font-weight:600;overflow-wrap:normal;white-space:nowrap}
.s.offline{color:var(--offline);background:var(--offline-tint)}.s.unknown{color:var(--unknown);background:var(--unknown-tint)}
.s.degraded{color:var(--degraded);background:var(--degraded-tint)}.s.online{color:var(--online);background:var(--online-tint)}
.tiles,.cards,.choices,.handled,.story{list-style:none;margin:0;padding:0}
.tiles{display:grid;gap:.7rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,15rem),1fr))}
.tiles li{background:var(--card);border:1px solid var(--line);border-top:4px solid var(--line);border-radius:10px;padding:.65rem .8rem .75rem}
.tiles>.offline{border-top-color:var(--offline)}.tiles>.unknown{border-top-style:double;border-top-color:var(--unknown)}.tiles>.degraded,.tiles>.alerts{border-top-color:var(--degraded)}.tiles>.online{border-top-color:var(--online)}
.share{display:block;width:100%;height:.5rem;border-radius:3px;margin-top:.55rem}.lead .share{margin-top:.8rem}
.share .offline{fill:var(--bar-offline)}.share .unknown{fill:var(--bar-unknown)}.share .degraded{fill:var(--bar-degraded)}.share .online{fill:var(--bar-online)}
.tiles a{font-weight:600}.tiles p{margin:.35rem 0 0}.tiles .s{margin:.1rem 0}
.cards{display:grid;gap:.7rem}
.card{background:var(--card);border:1px solid var(--line);border-left:4px solid var(--line);border-radius:10px;padding:.8rem 1rem}
.card p{margin:.35rem 0 0}.card.severe{border-left-color:var(--offline)}.card.mild,.card.active{border-left-color:var(--degraded)}.card.pending{border-left-style:dashed;border-left-color:var(--unknown)}
.card>form{margin-top:.7rem}
.handled{margin-top:.5rem;padding:.45rem .7rem;background:var(--sunk);border-radius:8px}.handled+.actions{margin-top:.7rem}
.code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.9rem}
q{font-style:italic}
table{border-collapse:separate;border-spacing:0;width:100%;background:var(--card);border:1px solid var(--line);border-radius:10px}
th,td{text-align:left;vertical-align:top;padding:.5rem .8rem;border-top:1px solid var(--line)}
thead th{border-top:0;color:var(--soft);font-weight:600;font-size:.875rem}
tbody th{font-weight:600}td small,th small{display:block}
td i{display:none;font-style:normal;color:var(--soft)}
.t,time{white-space:nowrap}
.n{text-align:right;font-variant-numeric:tabular-nums}
dl{display:grid;grid-template-columns:minmax(6.5rem,max-content) 1fr;gap:.4rem 1rem;margin:0;background:var(--card);border:1px solid var(--line);border-radius:10px;padding:.9rem 1.1rem}
dt{color:var(--soft)}dd{margin:0}
section+dl{margin-top:1.2rem}
.panel{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:1rem 1.1rem}.panel p{margin:.4rem 0 0}.panel details{margin-top:.4rem}
.strip{display:block;width:100%;height:3rem}.track{fill:var(--sunk)}rect.good{fill:var(--bar-online)}rect.fair{fill:var(--bar-degraded)}rect.poor{fill:var(--bar-offline)}rect.none{fill:var(--bar-unknown)}
.line polyline{fill:none;stroke:var(--link);stroke-width:2;vector-effect:non-scaling-stroke;stroke-linejoin:round;stroke-linecap:round}
.panel .ends{display:flex;justify-content:space-between;color:var(--soft);font-size:.875rem;margin-top:.2rem}
.days>p,.days summary{margin:0;padding:.3rem 0;font-weight:400}.days details{margin:0}.days summary span,.days>p span{display:inline-block;min-width:6.5rem}.days>p{padding-left:1.1rem}
.hours{list-style:none;margin:.2rem 0 .6rem;padding:0;display:grid;gap:.3rem;grid-template-columns:repeat(auto-fill,minmax(5.2rem,1fr));font-size:.875rem}
.hours li{border-radius:6px;padding:.15rem .4rem;background:var(--sunk);border-bottom:3px solid var(--bar-unknown);font-variant-numeric:tabular-nums}.hours span{display:block;color:var(--soft)}
.hours .good{border-bottom-color:var(--bar-online)}.hours .fair{border-bottom-color:var(--bar-degraded)}.hours .poor{border-bottom-color:var(--bar-offline);font-weight:600}
.pager{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;margin:.8rem 0}
.story{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:.3rem 1.1rem}
.story li{display:grid;grid-template-columns:minmax(8.5rem,max-content) 1fr;gap:0 1rem;padding:.4rem 0;border-top:1px solid var(--line)}.story li:first-child{border-top:0}
.story time{color:var(--soft);font-variant-numeric:tabular-nums}
details{margin-top:1.2rem}summary{cursor:pointer;font-weight:600;padding:.35rem 0}
form{margin:0}
.search{display:flex;flex-wrap:wrap;gap:.6rem;align-items:end;margin:0 0 1.2rem}
.search label{flex:1 1 14rem}
label,legend{font-weight:600}
input,button,.button{font:inherit;color:inherit;padding:.55rem .8rem;min-height:2.75rem;border:1px solid var(--soft);border-radius:8px;background:var(--card)}
input{display:block;width:100%;margin-top:.25rem}
button,.button{font-weight:600;cursor:pointer;display:inline-block;text-decoration:none;color:var(--ink)}
.main{background:var(--link);border-color:var(--link);color:var(--on)}
.plain{border:0;background:none;padding:.35rem 0;min-height:0;font-weight:400;color:var(--link);text-decoration:underline;text-underline-offset:.15em}
.actions{display:flex;flex-wrap:wrap;gap:.6rem;margin:.7rem 0 0}
.sheet{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:1rem 1.1rem;margin:1rem 0;max-width:44rem}
.sheet p{margin:.35rem 0 0}.sheet>p{margin-top:.7rem}
.field{margin-top:.9rem}.field:first-of-type{margin-top:0}
fieldset{border:0;padding:0;margin:1.1rem 0 0;min-width:0}
.beside{display:flex;flex-wrap:wrap;gap:.6rem;align-items:end;margin-top:.6rem}.beside .field{flex:0 1 10rem;margin:0}
.wrong{color:var(--offline);font-weight:600}[aria-invalid]{border-color:var(--offline);border-width:2px}
.warning{color:var(--degraded);background:var(--degraded-tint);border-radius:8px;padding:.5rem .8rem;font-weight:600;margin:.4rem 0}
.choices{display:flex;flex-wrap:wrap;gap:.5rem;margin:.8rem 0}
.choices a{display:inline-block;padding:.4rem .8rem;border:1px solid var(--line);border-radius:99px;background:var(--card);text-decoration:none}.choices a[aria-current]{border-color:var(--link);border-width:2px;font-weight:600;color:var(--ink)}
#lost{position:sticky;top:0;z-index:1;margin:0;padding:.6rem 1rem;background:var(--degraded-tint);color:var(--degraded);border-bottom:2px solid var(--degraded);font-weight:600;text-align:center}
.stale main{filter:grayscale(1)}
footer{color:var(--soft);font-size:.875rem;padding-top:1.5rem;padding-bottom:2.5rem}
.hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
@media (max-width:44rem){.lead{padding-left:1.1rem}.lead::before{position:static;float:left;margin-right:.7rem}
.brand{flex:1 1 100%}.who{position:absolute;top:.6rem;right:1rem;max-width:60%}.who a,.who button{padding:.35rem 0}
.actions>*{flex:1 1 auto}.actions>.button,.actions button{width:100%;text-align:center}
.story li{grid-template-columns:1fr}
thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
table,tbody{display:block}tbody tr{display:flex;flex-wrap:wrap;gap:.1rem .9rem;padding:.6rem .8rem;border-top:1px solid var(--line)}tbody tr:first-child{border-top:0}
tbody th,tbody td{display:block;padding:0;border:0;text-align:left}tbody th{flex:0 0 100%}td:empty{display:none}td i{display:inline}td small{display:inline-block;margin-right:.25rem}}
@media (forced-colors:active){.s,.tiles li,.lead,.card,.main{border-color:CanvasText}}
`;
