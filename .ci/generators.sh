# Small sites by today's generators, for .ci/applications: made_NAME ROOT OUT installs a generator
# in ROOT, writes the sources of a site of six to ten pages there, and builds it in OUT.
# A site has a page with a picture, a link with a query, a part that is loaded later (a button), and
# text enough for its search; "zebra" stands on three pages.

# npm_into ROOT PACKAGE...: once.
npm_into() {
	[[ -e $1/installed ]] || { mkdir -p "$1" && npm install --prefix "$1" --no-audit --no-fund --loglevel=error "${@:2}" >&2 && touch "$1/installed"; }
}

# picture FILE: 8 by 8 pixels.
picture() {
	mkdir -p "$(dirname "$1")"
	base64 -d >"$1" <<<'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAFElEQVR4nGP8z4APMOGVZRip0gBBGQEPbHNuKwAAAABJRU5ErkJggg=='
}

# chapters: the names of the pages below guide/, and prose WORD: a few sentences.
chapters() { printf '%s\n' one two three four five; }
prose() { printf 'Chapter %s tells of lamps: how a wick is cut, how oil is poured, and why a lamp that smokes wants air. A zebra of brass stands beside lamp %s. Whoever reads on learns of %s glass chimneys.' "$1" "$1" "$1"; }

made_VitePress() {
	local n
	npm_into "$1" vitepress@1 vue@3
	mkdir -p "$1"/docs/{guide,.vitepress,public}
	picture "$1/docs/guide/lamp.png"
	printf 'export default { title: "Lamps", cleanUrls: %s, themeConfig: { search: { provider: "local" }, sidebar: [%s] } }\n' "${CLEAN:-false}" "$(chapters | sed 's/.*/{ text: "Chapter &", link: "\/guide\/&" },/' | tr -d '\n')" >"$1/docs/.vitepress/config.mjs"
	printf '# Lamps\n\nWelcome. [The first chapter](./guide/one)\n' >"$1/docs/index.md"
	for n in $(chapters); do printf '<script setup>\nimport { ref } from "vue"\nconst n = ref(0)\n</script>\n\n# Chapter %s\n\n%s\n\n![a lamp](./lamp.png)\n\n<button @click="n++">pressed {{ n }}</button>\n\n## Oil of %s\n\n[again](./two?from=%s) [next](./three)\n' "$n" "$(prose "$n")" "$n" "$n" >"$1/docs/guide/$n.md"; done
	(cd "$1" && node_modules/.bin/vitepress build docs --outDir "$2" >&2)
}
made_VitePress-clean() { CLEAN=true made_VitePress "$@"; }

# next_sources ROOT OPTIONS: the App Router.
next_sources() {
	mkdir -p "$1"/app/{about,blog/'[slug]'} "$1/public"
	picture "$1/public/lamp.png"
	printf 'export default { output: "export", distDir: "out", images: { unoptimized: true }, %s }\n' "$2" >"$1/next.config.mjs"
	printf 'import Link from "next/link"\nexport const metadata = { title: "Lamps" }\nexport default function L({ children }) { return <html lang="en"><body><nav><Link href="/">Home</Link> <Link href="/about">About</Link> <Link href="/blog">Blog</Link></nav>{children}</body></html> }\n' >"$1/app/layout.js"
	printf '"use client"\nimport { useState, lazy, Suspense } from "react"\nconst A = lazy(() => import("./a")), B = lazy(() => import("./b"))\nexport default function C() { const [n, set] = useState(0); return <div><button onClick={() => set(n + 1)}>clicked {n}</button><Suspense>{n > 0 && <A />}{n > 1 && <B />}</Suspense></div> }\n' >"$1/app/counter.js"
	printf '"use client"\nimport { useState } from "react"\nimport dynamic from "next/dynamic"\nconst C = dynamic(() => import("./c"), { ssr: false })\nexport default function D() { const [on, set] = useState(false); return <p><button onClick={() => set(true)}>more</button>{on && <C />}</p> }\n' >"$1/app/later.js"
	for n in a b c; do printf 'export default function P() { return <p>part %s</p> }\n' "$n" >"$1/app/$n.js"; done
	printf 'import Image from "next/image"\nimport C from "./counter"\nexport default function P() { return <main><h1>Lamps</h1><Image src="/lamp.png" width="8" height="8" alt="a lamp" /><C /></main> }\n' >"$1/app/page.js"
	printf 'import D from "../later"\nexport default function P() { return <main><h1>About</h1><p>%s</p><D /></main> }\n' "$(prose about)" >"$1/app/about/page.js"
	printf 'import Link from "next/link"\nexport default function P() { return <ul>{["one", "two", "three"].map(s => <li key={s}><Link href={"/blog/" + s}>{s}</Link></li>)}<li><Link href="/blog/three?ref=one">again</Link></li></ul> }\n' >"$1/app/blog/page.js"
	printf 'export const generateStaticParams = () => ["one", "two", "three"].map(slug => ({ slug }))\nexport default async function P({ params }) { const { slug } = await params; return <main><h1>Post {slug}</h1><p>{%s}</p></main> }\n' "\"$(prose post)\"" >"$1/app/blog/[slug]/page.js"
}
next_build() {
	(cd "$1" && rm -rf out .next && NEXT_TELEMETRY_DISABLED=1 node_modules/.bin/next build ${3:-} >&2)
	rm -rf "$2" && cp -r "$1/out" "$2"
}
made_Next() { npm_into "$1" next@16 react@19 react-dom@19 && next_sources "$1" '' && next_build "$1" "$2" --webpack; }
made_Turbopack() { npm_into "$1" next@16 react@19 react-dom@19 && next_sources "$1" '' && next_build "$1" "$2"; }
made_Next-slash() { npm_into "$1" next@16 react@19 react-dom@19 && next_sources "$1" 'trailingSlash: true' && next_build "$1" "$2" --webpack; }

# The Pages Router: data of each page in _next/data, a manifest of chunks.
made_Next-pages() {
	npm_into "$1" next@16 react@19 react-dom@19
	mkdir -p "$1"/pages/blog "$1/parts"
	printf 'export default { output: "export", distDir: "out" }\n' >"$1/next.config.mjs"
	printf 'import Link from "next/link"\nexport default function App({ Component, pageProps }) { return <><nav><Link href="/">Home</Link> <Link href="/about">About</Link> <Link href="/blog/one">One</Link></nav><Component {...pageProps} /></> }\n' >"$1/pages/_app.js"
	printf 'import dynamic from "next/dynamic"\nimport { useState } from "react"\nconst P = dynamic(() => import("../parts/p"), { ssr: false })\nexport default function H() { const [n, set] = useState(0); return <main><h1>Lamps</h1><button onClick={() => set(n + 1)}>clicked {n}</button>{n > 0 && <P />}</main> }\n' >"$1/pages/index.js"
	printf 'export default function P() { return <p>a part that comes later</p> }\n' >"$1/parts/p.js"
	printf 'export default function A() { return <main><h1>About</h1><p>%s</p></main> }\n' "$(prose about)" >"$1/pages/about.js"
	printf 'import Link from "next/link"\nexport const getStaticPaths = () => ({ fallback: false, paths: ["one", "two", "three"].map(slug => ({ params: { slug } })) })\nexport const getStaticProps = ({ params }) => ({ props: { slug: params.slug, text: %s + params.slug } })\nexport default function P({ slug, text }) { return <main><h1>Post {slug}</h1><p>{text}</p>{["one", "two", "three"].map(s => <Link key={s} href={"/blog/" + s}>{s} </Link>)}</main> }\n' "\"$(prose post)\"" >"$1/pages/blog/[slug].js"
	next_build "$1" "$2" --webpack
}

made_docsify() {
	local n
	npm_into "$1" docsify@4
	mkdir -p "$2/guide"
	cp "$1"/node_modules/docsify/lib/{docsify.min.js,plugins/search.min.js,themes/vue.css} "$2"
	picture "$2/guide/lamp.png"
	printf '<!DOCTYPE html><html lang="en"><head><meta charset="UTF-8"><title>Lamps</title><link rel="stylesheet" href="vue.css"></head><body><div id="app">Please wait</div><script>window.$docsify = { name: "Lamps", loadSidebar: true, search: "auto" }</script><script src="docsify.min.js"></script><script src="search.min.js"></script></body></html>\n' >"$2/index.html"
	printf '# Lamps\n\nThe home of lamps. [First](guide/one.md)\n' >"$2/README.md"
	{ printf -- '- [Home](/)\n' && chapters | sed 's:.*:- [&](guide/&.md):'; } >"$2/_sidebar.md"
	for n in $(chapters); do printf '# Chapter %s\n\n%s [two](guide/two.md)\n\n![a lamp](lamp.png)\n\n## Part of %s\n\ntext\n' "$n" "$(prose "$n")" "$n" >"$2/guide/$n.md"; done
}

# A single-page application: routes by history, each page a chunk of its own, nothing in its document.
made_Vue() {
	npm_into "$1" vue@3 vue-router@4 vite@6 @vitejs/plugin-vue@5
	mkdir -p "$1/src" "$1/public/data"
	picture "$1/public/lamp.png"
	printf '{"two":"%s","three":"Data of three."}\n' "$(prose two)" >"$1/public/data/texts.json"
	printf '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Lamps</title></head><body><div id="app"></div><script type="module" src="/src/main.js"></script></body></html>\n' >"$1/index.html"
	printf 'import vue from "@vitejs/plugin-vue"\nexport default { plugins: [vue()] }\n' >"$1/vite.config.mjs"
	printf 'import { createApp } from "vue"\nimport { createRouter, %s } from "vue-router"\nimport App from "./App.vue"\nconst router = createRouter({ history: %s(), routes: [\n{ path: "/", component: () => import("./Home.vue") },\n{ path: "/about", component: () => import("./About.vue") },\n{ path: "/post/:name", component: () => import("./Post.vue") },\n{ path: "/:rest(.*)", component: { render: () => "There is no such page." } } ] })\ncreateApp(App).use(router).mount("#app")\n' "${HISTORY:-createWebHistory}" "${HISTORY:-createWebHistory}" >"$1/src/main.js"
	printf '<template><nav><router-link to="/">Home</router-link> <router-link to="/about">About</router-link> <router-link v-for="p in [&#39;one&#39;,&#39;two&#39;,&#39;three&#39;]" :key="p" :to="&#39;/post/&#39; + p">{{ p }}</router-link></nav><router-view /></template>\n' | sed "s/&#39;/'/g" >"$1/src/App.vue"
	printf '<script setup>\nimport { ref } from "vue"\nconst n = ref(0)\n</script>\n<template><main><h1>Lamps</h1><p>%s</p><img src="/lamp.png"><button @click="n++">pressed {{ n }}</button></main></template>\n' "$(prose home)" >"$1/src/Home.vue"
	printf '<template><main><h1>About</h1><p>%s</p></main></template>\n' "$(prose about)" >"$1/src/About.vue"
	printf '<script setup>\nimport { ref, watchEffect } from "vue"\nimport { useRoute } from "vue-router"\nconst r = useRoute(), text = ref("")\nwatchEffect(async () => { const name = r.params.name; text.value = (await (await fetch("/data/texts.json")).json())[name] || "No data." })\n</script>\n<template><main><h1>Post {{ $route.params.name }}</h1><p>{{ text }}</p></main></template>\n' >"$1/src/Post.vue"
	(cd "$1" && node_modules/.bin/vite build --logLevel warn --emptyOutDir --outDir "$2" >&2)
}
made_Vue-hash() { HISTORY=createWebHashHistory made_Vue "$@"; }

made_SvelteKit() {
	local n
	npm_into "$1" @sveltejs/kit@2 @sveltejs/adapter-static@3 @sveltejs/vite-plugin-svelte@5 svelte@5 vite@6
	mkdir -p "$1"/src/routes/{about,guide/'[name]'} "$1/static"
	picture "$1/static/lamp.png"
	printf '{"type":"module","dependencies":{}}\n' >"$1/package.json.new" && [[ -e $1/package.json ]] || mv "$1/package.json.new" "$1/package.json"
	printf 'import adapter from "@sveltejs/adapter-static"\nexport default { kit: { adapter: adapter({ pages: %s, assets: %s }), prerender: { entries: ["*"] } } }\n' "'$2'" "'$2'" >"$1/svelte.config.js"
	printf 'import { sveltekit } from "@sveltejs/kit/vite"\nexport default { plugins: [sveltekit()] }\n' >"$1/vite.config.mjs"
	printf '<!doctype html><html lang="en"><head><meta charset="utf-8">%%sveltekit.head%%</head><body><div>%%sveltekit.body%%</div></body></html>\n' >"$1/src/app.html"
	printf 'export const prerender = true\n' >"$1/src/routes/+layout.js"
	printf '<script>let { children } = $props()</script>\n<nav><a href="/">Home</a> <a href="/about">About</a>%s</nav>{@render children()}\n' "$(chapters | sed 's:.*: <a href="/guide/&">&</a>:' | tr -d '\n')" >"$1/src/routes/+layout.svelte"
	printf '<script>let n = $state(0), Part = $state(null)\nasync function press() { n++; Part = (await import("$lib/part.svelte")).default }</script>\n<svelte:head><title>Lamps</title></svelte:head><h1>Lamps</h1><img src="/lamp.png" alt="a lamp"><button onclick={press}>pressed {n}</button>{#if Part}<Part />{/if}\n' >"$1/src/routes/+page.svelte"
	mkdir -p "$1/src/lib" && printf '<p>a part that comes later</p>\n' >"$1/src/lib/part.svelte"
	printf '<h1>About</h1><p>%s</p>\n' "$(prose about)" >"$1/src/routes/about/+page.svelte"
	printf 'export const load = ({ params }) => ({ name: params.name, text: %s + params.name })\n' "\"$(prose guide)\"" >"$1/src/routes/guide/[name]/+page.server.js"
	printf '<script>let { data } = $props()</script>\n<h1>Chapter {data.name}</h1><p>{data.text}</p><a href="/guide/two?from={data.name}">again</a>\n' >"$1/src/routes/guide/[name]/+page.svelte"
	(cd "$1" && node_modules/.bin/svelte-kit sync >&2 && node_modules/.bin/vite build --logLevel warn >&2)
}

made_Nuxt() {
	npm_into "$1" nuxt@4 unstorage@1.17.3
	mkdir -p "$1"/app/pages/guide "$1"/app/components "$1/public"
	picture "$1/public/lamp.png"
	printf 'export default defineNuxtConfig({ compatibilityDate: "2025-07-01", telemetry: false, devtools: { enabled: false }, ssr: true })\n' >"$1/nuxt.config.ts"
	printf '<template><nav><NuxtLink to="/">Home</NuxtLink> <NuxtLink to="/about">About</NuxtLink>%s</nav><NuxtPage /></template>\n' "$(chapters | sed 's:.*: <NuxtLink to="/guide/&">&</NuxtLink>:' | tr -d '\n')" >"$1/app/app.vue"
	printf '<script setup>\nconst n = ref(0)\n</script>\n<template><main><h1>Lamps</h1><img src="/lamp.png"><button @click="n++">pressed {{ n }}</button><LazyPart v-if="n > 0" /></main></template>\n' >"$1/app/pages/index.vue"
	printf '<template><p>a part that comes later</p></template>\n' >"$1/app/components/Part.vue"
	printf '<template><main><h1>About</h1><p>%s</p></main></template>\n' "$(prose about)" >"$1/app/pages/about.vue"
	printf '<script setup>\nconst r = useRoute()\nconst { data } = await useAsyncData("t" + r.params.name, async () => ({ text: %s + r.params.name }))\n</script>\n<template><main><h1>Chapter {{ r.params.name }}</h1><p>{{ data.text }}</p><NuxtLink to="/guide/two?from=here">again</NuxtLink></main></template>\n' "\"$(prose guide)\"" >"$1/app/pages/guide/[name].vue"
	(cd "$1" && rm -rf .output dist && NUXT_TELEMETRY_DISABLED=1 node_modules/.bin/nuxt generate >&2)
	rm -rf "$2" && cp -r "$1/.output/public" "$2"
}

made_Docusaurus() {
	local n
	npm_into "$1" @docusaurus/core@3 @docusaurus/preset-classic@3 react@18 react-dom@18
	mkdir -p "$1"/docs "$1"/src/pages
	picture "$1/docs/lamp.png"
	printf 'module.exports = { title: "Lamps", url: "http://127.0.0.1", baseUrl: "/", presets: [["classic", { docs: { routeBasePath: "/" }, blog: false }]] }\n' >"$1/docusaurus.config.js"
	printf -- '---\nslug: /\n---\n# Lamps\n\nWelcome. [one](one.md)\n' >"$1/docs/index.md"
	for n in $(chapters); do printf 'import Tabs from "@theme/Tabs"\nimport TabItem from "@theme/TabItem"\n\n# Chapter %s\n\n%s [next](two.md)\n\n![a lamp](lamp.png)\n\n<Tabs><TabItem value="a" label="Oil">of oil</TabItem><TabItem value="b" label="Gas">of gas</TabItem></Tabs>\n' "$n" "$(prose "$n")" >"$1/docs/$n.mdx"; done
	sed -i 's/\.md)/.mdx)/' "$1"/docs/*.md*
	(cd "$1" && node_modules/.bin/docusaurus build --out-dir "$2" >&2)
}

# Astro with islands and the router that its ClientRouter makes of links.
made_Astro() {
	local n
	npm_into "$1" astro@5
	mkdir -p "$1"/src/{pages/guide,layouts} "$1/public"
	picture "$1/public/lamp.png"
	printf -- '---\nimport { ClientRouter } from "astro:transitions";\nconst { frontmatter } = Astro.props;\n---\n<!doctype html><html lang="en"><head><title>{frontmatter.title}</title><ClientRouter /></head><body><a href="/">home</a> <slot /><button id="b">pressed 0</button><style>body { color: #222 }</style><script>import { count } from "../count.mjs"; let n = 0; const b = document.getElementById("b"); b.onclick = async () => { b.textContent = "pressed " + ++n + " " + (await import("../later.mjs")).words + count(); };</script></body></html>\n' >"$1/src/layouts/page.astro"
	printf 'export const count = () => document.links.length;\n' >"$1/src/count.mjs"
	printf 'export const words = "later";\n' >"$1/src/later.mjs"
	printf -- '---\nlayout: ../layouts/page.astro\ntitle: Lamps\n---\n%s [one](/guide/one/)\n\n![a lamp](/lamp.png)\n' "$(prose home)" >"$1/src/pages/index.md"
	for n in $(chapters); do printf -- '---\nlayout: ../../layouts/page.astro\ntitle: Chapter %s\n---\n%s [two](/guide/two/) [three](/guide/three?from=%s) [four](/guide/four/) [five](/guide/five/)\n' "$n" "$(prose "$n")" "$n" >"$1/src/pages/guide/$n.md"; done
	(cd "$1" && ASTRO_TELEMETRY_DISABLED=1 node_modules/.bin/astro build --outDir "$2" >&2)
}

made_Storybook() {
	npm_into "$1" storybook@9 @storybook/html-vite@9 vite@6
	mkdir -p "$1"/.storybook "$1"/src
	printf 'export default { stories: ["../src/*.stories.js"], framework: { name: "@storybook/html-vite", options: {} }, core: { disableTelemetry: true } }\n' >"$1/.storybook/main.js"
	printf 'export default { title: "Lamp", render: ({ text }) => `<p>${text}</p>` }\nexport const Bright = { args: { text: "%s" } }\nexport const Dim = { args: { text: "a dim zebra" } }\n' "$(prose bright)" >"$1/src/lamp.stories.js"
	printf 'export default { title: "Wick", render: () => "<p>a wick of cotton</p>" }\nexport const Long = {}\n' >"$1/src/wick.stories.js"
	(cd "$1" && STORYBOOK_DISABLE_TELEMETRY=1 CI=1 node_modules/.bin/storybook build --quiet -o "$2" >&2)
}

made_Gatsby() {
	local n
	npm_into "$1" gatsby@5 react@18 react-dom@18
	mkdir -p "$1"/src/{pages/guide,parts} "$1/static"
	picture "$1/static/lamp.png"
	printf 'module.exports = { siteMetadata: { title: "Lamps" } }\n' >"$1/gatsby-config.js"
	printf 'import * as React from "react"\nimport { Link } from "gatsby"\nconst Part = React.lazy(() => import("../parts/part"))\nexport default function H() { const [n, set] = React.useState(0); return <main><h1>Lamps</h1><img src="/lamp.png" alt="a lamp" /><Link to="/guide/one/">one</Link> <button onClick={() => set(n + 1)}>clicked {n}</button>{n > 0 && <React.Suspense><Part /></React.Suspense>}</main> }\n' >"$1/src/pages/index.js"
	printf 'import * as React from "react"\nexport default function P() { return <p>a part that comes later</p> }\n' >"$1/src/parts/part.js"
	for n in $(chapters); do printf 'import * as React from "react"\nimport { Link } from "gatsby"\nexport default function P() { return <main><h1>Chapter %s</h1><p>%s</p><Link to="/">home</Link> <Link to="/guide/two/">two</Link> <Link to="/guide/three/?from=%s">three</Link> <Link to="/guide/four/">four</Link> <Link to="/guide/five/">five</Link></main> }\n' "$n" "$(prose "$n")" "$n" >"$1/src/pages/guide/$n.js"; done
	(cd "$1" && GATSBY_TELEMETRY_DISABLED=1 CI=1 node_modules/.bin/gatsby build >&2)
	rm -rf "$2" && cp -r "$1/public" "$2"
}

made_Doxygen() {
	local n
	mkdir -p "$1/src"
	for n in $(seq 5); do printf '/** @file */\n/** Class C%s: %s See C%s. */\nclass C%s { public: /** Do it. */ int go(int a); };\n' "$n" "$(prose "$n")" $((n % 5 + 1)) "$n" >"$1/src/c$n.hpp"; done
	printf 'PROJECT_NAME=Lamps\nINPUT=src\nGENERATE_LATEX=NO\nGENERATE_TREEVIEW=YES\nQUIET=YES\nSOURCE_BROWSER=YES\nEXTRACT_ALL=YES\nHAVE_DOT=NO\nOUTPUT_DIRECTORY=.\n' >"$1/Doxyfile"
	(cd "$1" && doxygen >&2)
	rm -rf "$2" && cp -r "$1/html" "$2"
}

made_Material() {
	local n
	mkdir -p "$1/docs/guide"
	picture "$1/docs/guide/lamp.png"
	printf 'site_name: Lamps\ntheme:\n  name: material\n  features: [%s]\n' "${FEATURES:-}" >"$1/mkdocs.yml"
	printf '# Lamps\n\nWelcome. [one](guide/one.md)\n' >"$1/docs/index.md"
	for n in $(chapters); do printf '# Chapter %s\n\n%s [next](two.md)\n\n![a lamp](lamp.png)\n' "$n" "$(prose "$n")" >"$1/docs/guide/$n.md"; done
	(cd "$1" && mkdocs build -q -d "$2" 2>/dev/null)
}
made_Material-instant() { FEATURES=navigation.instant made_Material "$@"; }

made_Sphinx() {
	local n
	mkdir -p "$1"
	printf 'project = "Lamps"\nhtml_theme = "%s"\nhtml_show_sourcelink = False\n' "${THEME:-alabaster}" >"$1/conf.py"
	printf 'Lamps\n=====\n\n.. toctree::\n   :glob:\n\n   c*\n' >"$1/index.rst"
	for n in $(chapters); do printf 'Chapter %s\n==============\n\n.. index:: word%s\n\n%s :doc:`ctwo`\n' "$n" "$n" "$(prose "$n")" >"$1/c$n.rst"; done
	sphinx-build -q -b html "$1" "$2" >&2
}
made_Sphinx-rtd() { THEME=sphinx_rtd_theme made_Sphinx "$@"; }

made_javadoc() {
	local n
	mkdir -p "$1/lamps"
	for n in $(seq 5); do printf 'package lamps;\n/** %s See {@link Lamp%s}. */\npublic class Lamp%s { /** Lights the zebra. */ public int light(int wick) { return wick; } }\n' "$(prose "$n")" $((n % 5 + 1)) "$n" >"$1/lamps/Lamp$n.java"; done
	javadoc -quiet -d "$2" -sourcepath "$1" lamps >&2
}

# A large manual of Debian's: rust-doc.
made_rustdoc() { cp -rL /usr/share/doc/rust-doc/html "$2"; }
