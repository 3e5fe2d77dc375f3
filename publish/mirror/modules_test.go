package mirror_test

import (
	"strings"
	"testing"

	"curtsy/publish/mirror"
)

// The imports of a module are fetched, and its references are rewritten where files have other
// names in the mirror.
func TestExportOfModules(t *testing.T) {
	t.Parallel()
	s := serve(t, `
-- / --
<!DOCTYPE html><title>start</title><script type="importmap">{"imports":{"lib":"/js/lib.js"}}</script><script type="module" src="/js/main.js?v=1"></script>
-- /js/main.js?v=1 --
HTTP 200
Content-Type: text/javascript

import "/js/a.js?v=1"; import x from "./b.js"; import "lib"; import("./gone.js"); new Worker(new URL("w.js", import.meta.url));
-- /js/a.js?v=1 --
HTTP 200
Content-Type: text/javascript

export default 1;
-- /js/b.js --
HTTP 200
Content-Type: text/javascript

export {default} from "./a.js?v=1";
-- /js/w.js --
HTTP 200
Content-Type: text/javascript

importScripts("lib.js")
-- /js/lib.js --
HTTP 200
Content-Type: text/javascript

1
`)
	files := exported(t, s, crawl(t, s))
	for name, want := range map[string]string{
		"index.html": `{"imports":{"lib":"./js/lib.js"}}</script><script type="module" src="js/main@v=1.js">`,
		"js/main@v=1.js": `import "./a@v=1.js"; import x from "./b.js"; import "lib"; import("data:text/javascript,/*` +
			s.Origin + `/js/gone.js*/"); new Worker(new URL("w.js", import.meta.url));`,
		"js/a@v=1.js": "export default 1;",
		"js/b.js":     `export {default} from "./a@v=1.js";`,
		"js/w.js":     `importScripts("lib.js")`,
		"js/lib.js":   "1",
	} {
		if !strings.Contains(files[name], want) {
			t.Errorf("%s: got %q, want %q", name, files[name], want)
		}
	}
	if report := files[mirror.ReportFile]; !strings.Contains(report, "<p class=warn>1 page uses modules") {
		t.Error("the report does not say at its top that a browser refuses modules from a disk")
	}
}
