package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"curtsy/internal/testkit/sitetest"
	"curtsy/publish/inventory"
)

// others are sites that a site links to. They record the requests and the highest number of
// concurrent ones.
type others struct {
	mu            sync.Mutex
	asked         map[string]int // by method and path
	flying, atOne int
}

func (o *others) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	o.asked[r.Method+" "+r.URL.Path]++
	o.flying++
	o.atOne = max(o.atOne, o.flying)
	times := o.asked[r.Method+" "+r.URL.Path]
	o.mu.Unlock()
	defer func() {
		o.mu.Lock()
		o.flying--
		o.mu.Unlock()
	}()
	switch path := r.URL.Path; {
	case path == "/robots.txt":
		fmt.Fprint(w, "User-agent: *\nDisallow: /denied\n")
	case path == "/nohead" && r.Method == http.MethodHead:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case path == "/busy" && times == 1:
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
	case path == "/moved":
		http.Redirect(w, r, "/fine", http.StatusMovedPermanently)
	case path == "/found":
		http.Redirect(w, r, "/fine", http.StatusFound)
	case path == "/circle":
		http.Redirect(w, r, "/circle", http.StatusFound)
	case path == "/moved-to-part":
		http.Redirect(w, r, "/fine#here", http.StatusFound)
	case path == "/paper.pdf":
		w.Header().Set("Content-Type", "application/pdf")
	case path == "/busier" && times < 3:
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
	case strings.HasPrefix(path, "/later"):
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	case path == "/moved-to-gone":
		http.Redirect(w, r, "/404", http.StatusMovedPermanently)
	case path == "/cut":
		panic(http.ErrAbortHandler)
	case len(path) == 4:
		var status int
		fmt.Sscan(path[1:], &status)
		w.WriteHeader(status)
	default:
		fmt.Fprint(w, `<title>x</title><p id=here>The quick brown fox`)
	}
}

func TestLinksToOtherSites(t *testing.T) {
	long(t)
	t.Parallel()
	archive := filepath.Join(t.TempDir(), "a")
	o := &others{asked: map[string]int{}}
	there := httptest.NewServer(o)
	defer there.Close()
	own := map[string]string{} // failing URLs have a host each, because a failing host is left alone for a while
	for _, path := range []string{"/500", "/999", "/cut", "/busy", "/busier", "/later"} {
		s := httptest.NewServer(&others{asked: map[string]int{}})
		defer s.Close()
		own[path], own[path+"2"] = s.URL, s.URL
	}
	absolute := func(origin, to string) string {
		switch {
		case own[to] != "":
			return own[to] + to
		case strings.HasPrefix(to, "/"):
			return origin + to
		}
		return to
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead := "http://" + closed.Addr().String() + "/"
	closed.Close()
	want := map[string]struct {
		verdict inventory.Verdict
		reason  string // substring
	}{
		"/fine": {inventory.OK, ""}, "/nohead": {inventory.OK, ""}, "/busy": {inventory.OK, ""},
		"/moved": {inventory.OK, "moved for good: link to " + there.URL + "/fine"},
		"/found": {inventory.OK, "redirect for now"}, "/busier": {inventory.OK, ""},
		"/later":      {inventory.Undecided, ""},
		"/later2":     {inventory.Undecided, ""}, // Retry-After of an hour, longer than the check waits
		"/moved#here": {inventory.OK, "moved for good"}, "/moved#lost": {inventory.IsBroken, "no place #lost"},
		"/found#gone": {inventory.IsBroken, "no place #gone"}, "/moved-to-part#any": {inventory.OK, "redirect for now"},
		"/paper.pdf#page=2": {inventory.OK, ""}, "/fine#L12": {inventory.OK, ""},
		"/circle": {inventory.IsBroken, "circle"}, "/moved-to-gone": {inventory.IsBroken, "http: 404"},
		"/404": {inventory.IsBroken, "404"}, "/410": {inventory.IsBroken, "410"}, "/403": {inventory.Undecided, "403"},
		"/401": {inventory.Undecided, "401"},
		"/999": {inventory.Undecided, "999"}, "/500": {inventory.Undecided, "500"},
		"/cut": {inventory.Undecided, "disconnect"}, "/denied": {inventory.Unchecked, "robots.txt"},
		"/fine#here": {inventory.OK, ""}, "/fine#nowhere": {inventory.IsBroken, "no place"},
		"/fine#:~:text=quick%20brown": {inventory.OK, ""}, "/fine#:~:text=slow": {inventory.IsBroken, "no place"},
		dead: {inventory.IsBroken, "refused"}, "http://[bad": {inventory.IsBroken, "no URL"},
		"htp://typo": {inventory.IsBroken, "scheme"}, "mailto:nobody": {inventory.IsBroken, "mail"},
	}
	page := "<title>x</title><p id=own>"
	for to := range want {
		page += fmt.Sprintf("<a href=%q>x</a>", absolute(there.URL, to))
	}
	page += `<a href="#own">1</a> <a href="/#lost">2</a> <a href="mailto:a@b.example">3</a>`
	page += `<a href="/old#part">4</a> <a href="/old#lost">5</a> <a href="/out">6</a> <a href="/new#:~:text=brown%20fox">7</a> <a href="/new#:~:text=cat">8</a>`
	s, err := sitetest.Parse([]byte("-- / --\n" + page + `
-- /old --
HTTP 302
Location: /new

-- /out --
HTTP 302
Location: ` + there.URL + `/404

-- /new --
<title>new</title><p id=part>A brown fox
`))
	if err == nil {
		err = s.Start("127.0.0.1:0")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	said(t, "crawl", s.Origin+"/", "--archive", archive, "--delay", "0", "--quiet")
	check := func() (got map[string]inventory.Link) {
		t.Helper()
		got = map[string]inventory.Link{}
		out, errs := said(t, "links", archive, "--external", "--json")
		for line := range strings.Lines(out) {
			var l inventory.Link
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				t.Fatal(err, line)
			}
			got[l.To] = l
		}
		if len(got) == 0 {
			t.Fatal(errs)
		}
		return got
	}
	got := check()
	for to, c := range want {
		l := got[absolute(there.URL, to)]
		if l.Verdict != c.verdict || !strings.Contains(l.Reason, c.reason) ||
			l.Broken != (c.verdict == inventory.IsBroken) {
			t.Errorf("%s: %+v, want %s (%s)", to, l, c.verdict, c.reason)
		}
	}
	for to, reason := range map[string]string{"/#lost": "no place #lost", "/old#lost": "redirect to " + s.Origin +
		"/new: no place #lost", "/out": "404", "/new#:~:text=cat": "no place"} {
		if l := got[s.Origin+to]; l.Verdict != inventory.IsBroken || !strings.Contains(l.Reason, reason) {
			t.Errorf("%s: %+v", to, l)
		}
	}
	for _, to := range []string{"/#own", "/old#part", "/new#:~:text=brown%20fox"} {
		if l := got[s.Origin+to]; l.Verdict != inventory.OK {
			t.Errorf("%s: %+v", to, l)
		}
	}
	o.mu.Lock()
	if o.atOne != 1 || o.asked["GET /robots.txt"] != 1 || o.asked["HEAD /denied"]+o.asked["GET /denied"] != 0 ||
		o.asked["HEAD /403"] != 1 || o.asked["GET /403"] != 1 || o.asked["HEAD /moved-to-gone"] != 1 ||
		o.asked["GET /moved-to-gone"] != 0 ||
		o.asked["GET /fine"] > 2 {
		t.Errorf("%d at a time, asked for %v", o.atOne, o.asked)
	}
	var before bytes.Buffer
	fmt.Fprint(&before, o.asked)
	o.mu.Unlock()
	check()
	if after := fmt.Sprint(o.asked); after != before.String() {
		t.Errorf("asked again within a day: %s, before %s", after, before.String())
	}
}
