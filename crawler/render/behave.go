package render

import (
	"fmt"
	"time"
)

// Bounds of what is done on a page as a reader would.
const (
	maxRounds = 10 // lists that go on, and buttons for more
	maxTaken  = 20 // links of one page that are taken within the application
	maxWays   = 1 << 16
)

// unfold opens what a page shows only when asked: lists that go on where they are
// scrolled to, buttons for more, details and tabs. It ends after a while.
func (t *rendering) unfold() error {
	defer t.fold()
	for began, round := time.Now(), 0; round < maxRounds && time.Since(began) < t.o.Timeout; round++ {
		n, err := t.number(unfold, t.o.Timeout)
		grown := t.grow()
		if err != nil || n == 0 && !grown {
			return t.calls.Err()
		}
		if err := t.idle(); err != nil {
			return err
		}
	}
	return nil
}

// unfold is how many things were opened; globalThis.opened are those.
const unfold = `(() => {
	const o = globalThis.opened ||= {seen: new Set(), details: [],
		tabs: [...document.querySelectorAll("[role=tab][aria-selected=true]")]};
	const words = ["(load|show|see|view|read|display) (more|all)", "more( results| items)?", "show next",
		"показать (ещё|еще|все|больше)", "(загрузить|смотреть) (ещё|еще)", "покажи още", "зареди още",
		"mehr (laden|anzeigen)", "(voir|afficher|charger) plus", "(cargar|ver|mostrar) más", "carica altro",
		"mostra altro"];
	const more = new RegExp("^\\+?\\s*(" + words.join("|") + ")\\b", "i");
	const once = (e) => !o.seen.has(e) && o.seen.size < 500 && !!o.seen.add(e);
	let n = 0;
	for (const d of document.querySelectorAll("details:not([open])"))
		if (once(d)) { d.open = true; o.details.push(d); n++; }
	for (const e of document.querySelectorAll("[role=tab]:not([aria-selected=true]):not(a[href])"))
		if (once(e)) { e.click(); n++; break; }
	const says = (e) => (e.innerText || "").trim().slice(0, 60);
	for (const e of document.querySelectorAll("button, [role=button]:not(a[href])"))
		if (!e.disabled && e.getClientRects().length && more.test(says(e))) { e.click(); n++; break; }
	scrollTo(0, document.documentElement.scrollHeight);
	return n;
})()`

// fold leaves details closed and tabs as they were: what is in them has been loaded. The
// height of the window, where scripts have written it into the page, is that of a
// window and not of the whole page.
func (t *rendering) fold() {
	_, _ = t.number(`(() => { const o = globalThis.opened;
		if (o) { o.details.forEach((d) => d.open = false); if (o.seen.size) o.tabs.forEach((e) => e.click()); }
		scrollTo(0, 0); return 1 })()`, time.Second)
	before, err := t.number(`(() => { const tall = innerHeight;
		const near = (v) => Math.abs(v - tall) < 2 || Math.abs(v * 100 - tall) < 2;
		const lengths = (e) => e.getAttribute("style").match(/[\d.]+(?=px)/g) || [];
		const baked = [...document.querySelectorAll("[style]")].some((e) => lengths(e).some((v) => near(+v)));
		return tall > 1024 && baked ? document.documentElement.textContent.length : 0 })()`, time.Second)
	if err != nil || before == 0 {
		return
	}
	tall := t.high
	if t.window(height) != nil || t.idle() != nil {
		return
	}
	if now, err := t.number("document.documentElement.textContent.length", time.Second); err == nil &&
		now < 0.98*before {
		_ = t.window(tall) // it shows what fits only
		_ = t.idle()
	}
}

// take clicks on links as a reader would, each once a crawl: where a router takes the
// click, what it asks for is fetched, and is there when the copy is used. The document
// has been read by then. It ends where links lead to other documents.
func (t *rendering) take() {
	t.mu.Lock()
	t.wander = true
	t.mu.Unlock()
	var list []string
	if t.evaluate(links, t.o.Timeout, &list) != nil {
		return
	}
	began, left := time.Now(), 0
	for n, taken := 0, 0; n < len(list) && taken < maxTaken && left < 2 && time.Since(began) < t.o.Timeout &&
		t.ways.worth(); n++ {
		if !t.first(list[n]) {
			continue
		}
		taken++
		t.mu.Lock()
		t.left = false
		t.mu.Unlock()
		found, err := t.number(fmt.Sprintf(`(() => {
			const a = [...document.querySelectorAll("a[href]")].find((a) => a.href === %q);
			if (!a) return 0;
			setTimeout(() => a.click(), 0);
			return 1 })()`, list[n]), time.Second)
		if err != nil {
			return
		}
		if found == 0 {
			continue
		}
		if t.idleFor(t.o.Quiet/4) != nil {
			return
		}
		if t.ways.note(t.leads()) {
			left++
		}
		if _, err := t.number(fmt.Sprintf("(location.href.split('#')[0] !== %q && setTimeout(() => "+
			"history.back(), 0), 1)", t.asked.url), time.Second); err != nil || t.idleFor(beat) != nil {
			return
		}
	}
}

// links are those of a page to others of the site.
const links = `Promise.resolve([...new Set([...document.querySelectorAll("a[href]")]
	.filter((a) => !/^(_blank|_new)$/i.test(a.target) && !a.hasAttribute("download") && a.getClientRects().length)
	.map((a) => String(a.href))
	.filter((u) => u.length < 2000 && u.startsWith(location.origin + "/"))
	.filter((u) => u.split("#")[0] !== location.href.split("#")[0]))].slice(0, 500))`

// first says whether a link has not been taken before.
func (t *rendering) first(url string) bool {
	t.ways.Lock()
	defer t.ways.Unlock()
	if t.ways.taken[url] || len(t.ways.taken) >= maxWays {
		return false
	}
	if t.ways.taken == nil {
		t.ways.taken = map[string]bool{}
	}
	t.ways.taken[url] = true
	return true
}

// leads says whether the last click would have led to another document.
func (t *rendering) leads() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.left
}

// maxLeft is after how many links in vain no more are taken.
const maxLeft = 8

// note counts a click, and says what it is told.
func (w *ways) note(left bool) bool {
	w.Lock()
	defer w.Unlock()
	if w.left++; !left {
		w.left -= 2
	}
	return left
}

func (w *ways) worth() bool {
	w.Lock()
	defer w.Unlock()
	return w.left < maxLeft
}

// told is what the page has asked for by now, and in vain.
func (t *rendering) told() (missing []Missing, asked int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.page.Missing, t.page.Asked
}
