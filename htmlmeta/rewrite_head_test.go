package htmlmeta

import (
	"net/http"
	"strings"
	"testing"

	"curtsy/internal/weburl"
)

func TestRewriteHead(t *testing.T) {
	for _, c := range []struct{ says, typ, src, want string }{
		{"behind the doctype", "text/html", "<!DOCTYPE html>\n<html lang=en><head><title>x</title>",
			"<!DOCTYPE html>HEAD\n<html lang=en><head><title>x</title>"},
		{"behind comments and the doctype", "text/html", "<!-- a --> <!-- b>-->\n<!doctype html><p>x",
			"<!-- a --> <!-- b>-->\n<!doctype html>HEAD<p>x"},
		{"behind an XML declaration", "text/html", "<?xml version='1.0'?>\n<!DOCTYPE html><html>",
			"<?xml version='1.0'?>\n<!DOCTYPE html>HEAD<html>"},
		{"before what an XML declaration ends in", "text/html", "<?xml ><script>1</script>?><!DOCTYPE html>",
			"HEAD<?xml ><script>1</script>?><!DOCTYPE html>"},
		{"before all where there is none", "text/html", "<script>1</script>", "HEAD<script>1</script>"},
		{"before text", "text/html", "x <!doctype html>", "HEADx <!doctype html>"},
		{"before a comment that ends where it begins", "text/html", "<!--><script>1</script>--><!doctype html>",
			"HEAD<!--><script>1</script>--><!doctype html>"},
		{"before a comment that ends otherwise", "text/html", "<!-- --!><script>1</script>--><!doctype html>",
			"HEAD<!-- --!><script>1</script>--><!doctype html>"},
		{"before a doctype that does not end", "text/html", "<!doctype html <p", "HEAD<!doctype html <p"},
		{"in an empty page", "text/html", "", "HEAD"},
		{"in a page that begins as a picture", "text/html", "<svg onload=x>", "HEAD<svg onload=x>"},
		{"in XHTML", "application/xhtml+xml",
			"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><head><title>x</title></head></html>",
			"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><head>HEAD<title>x</title></head></html>"},
		{"not in a picture", "image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg'/>",
			"<svg xmlns='http://www.w3.org/2000/svg'/>"},
		{"in srcdoc", "text/html", `<iframe srcdoc="<p>x">`, `HEAD<iframe srcdoc="HEAD&lt;p>x">`},
	} {
		out := Rewrite(Page{URL: weburl.MustParse("http://h/d/p"), Header: http.Header{"Content-Type": {c.typ}},
			Body: []byte(c.src)}, Rewriting{Ref: testRef, Head: "HEAD"})
		if string(out.Body) != c.want {
			t.Errorf("%s: %q, want %q", c.says, out.Body, c.want)
		}
	}
}

// A page with scripts gets the script of Rewriting before them, after the policy.
func TestRewriteScript(t *testing.T) {
	for _, c := range []struct{ typ, src, want string }{
		{"text/html", `<head><script src="data:a"></script>`,
			`<head><meta http-equiv="Content-Security-Policy" content="P"><script src="s.js"></script><script src="data:a"></script>`},
		{"text/html", `<p>x<script>1</script>`,
			`<meta http-equiv="Content-Security-Policy" content="P"><script src="s.js"></script><p>x<script>1</script>`},
		{"text/html", `<p>x`, `<meta http-equiv="Content-Security-Policy" content="P"><p>x`},
		// Text begins the body, where browsers ignore a policy.
		{"text/html", `<!doctype html> <!-- c -->text <p>x<head>`,
			`<!doctype html> <!-- c --><meta http-equiv="Content-Security-Policy" content="P">text <p>x<head>`},
		{"text/html", "<HTML lang=en>\n&nbsp;<head><script>1</script>",
			"<HTML lang=en>\n" + `<meta http-equiv="Content-Security-Policy" content="P"><script src="s.js"></script>&nbsp;<head><script>1</script>`},
		{"text/html", `text <html><head><title>t</title>`,
			`<meta http-equiv="Content-Security-Policy" content="P">text <html><head><title>t</title>`},
		{"text/html", `<html></br><p>x`, `<html><meta http-equiv="Content-Security-Policy" content="P"></br><p>x`},
		{"text/html", `</p></HTML>text<p>`, `</p><meta http-equiv="Content-Security-Policy" content="P"></HTML>text<p>`},
		{"text/html", `<!doctype html>text`, `<!doctype html><meta http-equiv="Content-Security-Policy" content="P">text`},
		{"image/svg+xml", `<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>`,
			`<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>`},
	} {
		page := Page{URL: weburl.MustParse("http://h/d/p"), Header: http.Header{"Content-Type": {c.typ}},
			Body: []byte(c.src)}
		out := Rewrite(page, Rewriting{Ref: testRef, Policy: "P", Script: "s.js"})
		if got := string(out.Body); got != c.want || out.Scripted != strings.Contains(got, "s.js") {
			t.Errorf("%s: %s, scripted %v", c.src, got, out.Scripted)
		}
	}
}

// The place of the policy is found in one walk, however many tags come before it.
func TestRewriteOfManyRoots(t *testing.T) {
	page := Page{URL: weburl.MustParse("http://h/"), Header: http.Header{"Content-Type": {"text/html"}},
		Body: []byte(strings.Repeat("<html><!-- c -->", 200_000) + "<p>x")}
	out := Rewrite(page, Rewriting{Ref: testRef, Policy: "P"})
	if !strings.HasSuffix(string(out.Body), `<meta http-equiv="Content-Security-Policy" content="P"><p>x`) {
		t.Errorf("%.200s", out.Body[max(0, len(out.Body)-200):])
	}
}
