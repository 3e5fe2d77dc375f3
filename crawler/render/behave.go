package render

import (
	"fmt"
	"time"
)

// Bounds on interaction with a page.
const (
	maxRounds = 10 // rounds of scrolling and of "more" buttons
	maxTaken  = 20 // in-application links clicked per page
	maxWays   = 1 << 16
)

// unfold opens what a page shows on demand: lists that load on scrolling, "more" buttons, details and
// tabs. It stops after maxRounds or Timeout.
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

// unfold returns how many things were opened; globalThis.opened records them.
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

// fold closes the details and restores the tabs; their content has been loaded. If a script has written
// the window height into the page, fold resets the window, so that the page does not record the
// artificially tall one.
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
		_ = t.window(tall) // the page shows only what fits the window
		_ = t.idle()
	}
}

// take clicks the page's links, each once per Browser: if a client-side router handles the click, what
// it requests is fetched and is thus in the archive. The document has been read before. take stops when
// clicks mostly lead to other documents.
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

// links lists the links of a page to other pages of the site.
const links = `Promise.resolve([...new Set([...document.querySelectorAll("a[href]")]
	.filter((a) => !/^(_blank|_new)$/i.test(a.target) && !a.hasAttribute("download") && a.getClientRects().length)
	.map((a) => String(a.href))
	.filter((u) => u.length < 2000 && u.startsWith(location.origin + "/"))
	.filter((u) => u.split("#")[0] !== location.href.split("#")[0]))].slice(0, 500))`

// first reports whether a link has not been clicked before, and records it.
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

// leads reports whether the last click would have left the document.
func (t *rendering) leads() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.left
}

// maxLeft is the value of ways.left from which on no more links are clicked.
const maxLeft = 8

// note counts a click; left says that it would have left the document. It returns left.
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

// told returns the requests of the page so far: those not answered, and the number of all.
func (t *rendering) told() (missing []Missing, asked int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.page.Missing, t.page.Asked
}
