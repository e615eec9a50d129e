/** How the readable page of the post door looks: in the colours of the pages for people, light and dark, on a desk and on a phone. */

export const style = `
:root{color-scheme:light dark;--paper:light-dark(#fff,#151514);--panel:light-dark(#f9f8f6,#1a1a19);--line:light-dark(#e8e6e1,#2c2c2a);--ink:light-dark(#1e1d1b,#eae8e3);--soft:light-dark(#5d5b56,#a5a29c);--accent:light-dark(#ad3c0a,#ff9d66);--get:light-dark(#1d6a41,#83cfa3);--post:light-dark(#2a5794,#94baf0);--put:light-dark(#765000,#dfb85f);--mono:ui-monospace,"SF Mono",Menlo,Consolas,"Liberation Mono",monospace}
*{box-sizing:border-box}html{scroll-padding-top:1rem;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.6 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",Arial,sans-serif;overflow-wrap:anywhere}
a{color:var(--accent)}:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:3px}
header,nav,main{padding:0 1.25rem;max-width:52rem;margin:0 auto}header{padding-top:2rem}main{padding-bottom:5rem}
h1{font-size:1.75rem;line-height:1.2;margin:0 0 .25rem}h2{font-size:1.3rem;margin:3rem 0 1rem;padding-bottom:.4rem;border-bottom:1px solid var(--line)}
h3{font-size:1.05rem;line-height:1.4;margin:0 0 .4rem}p{margin:.5rem 0}.soft{color:var(--soft)}
code,pre{font:.875em/1.55 var(--mono)}code{background:var(--panel);border:1px solid var(--line);border-radius:4px;padding:.05em .3em}
pre{background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:.8rem 1rem;overflow-x:auto;margin:.6rem 0;overflow-wrap:normal}
article{border:1px solid var(--line);border-radius:10px;padding:1.1rem 1.25rem;margin:1rem 0}article:target{border-color:var(--accent)}
.call{display:flex;flex-wrap:wrap;gap:.5rem;align-items:baseline;margin:0 0 .6rem}.call code{background:none;border:0;padding:0;font-size:.95em}
.GET{color:var(--get)}.POST{color:var(--post)}.PUT{color:var(--put)}.call b{font:600 .8rem var(--mono);border:1px solid;border-radius:4px;padding:0 .4em}
dl{display:grid;grid-template-columns:minmax(9rem,14rem) 1fr;gap:.15rem 1.25rem;margin:.8rem 0;font-size:.94rem}dt,dd{margin:0}dt small{display:block;color:var(--soft)}
summary{cursor:pointer;color:var(--soft);margin-top:.6rem}
nav ul{list-style:none;margin:1rem 0 0;padding:0;display:flex;flex-wrap:wrap;gap:.25rem 1.25rem}nav ul ul{display:none}
@media (max-width:40rem){dl{grid-template-columns:1fr}dd{margin:0 0 .5rem}article{padding:1rem}}
@media (min-width:72rem){body{display:grid;grid-template-columns:17rem minmax(0,1fr);grid-template-areas:"nav header" "nav main";grid-template-rows:auto 1fr}
header{grid-area:header;width:100%}main{grid-area:main;width:100%}nav{grid-area:nav;width:17rem;margin:0;position:sticky;top:0;height:100vh;overflow-y:auto;background:var(--panel);border-right:1px solid var(--line);padding:2rem 1.25rem;font-size:.9rem}
nav>ul{display:block;margin:0}nav>ul>li{margin-bottom:1.1rem}nav>ul>li>a{font-weight:600;color:var(--ink)}nav ul ul{display:block;margin:.3rem 0 0}nav ul ul a{display:block;padding:.15rem 0;color:var(--soft)}
nav a{text-decoration:none}nav a:hover{color:var(--accent);text-decoration:underline}}
`
