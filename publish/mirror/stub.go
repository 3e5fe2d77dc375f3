package mirror

import (
	"fmt"
	"html"
)

// stub is a page that leads to another one: what stands at the name of a URL
// that redirects, so that an old bookmark finds its way.
func stub(to, from, final string) []byte {
	href := html.EscapeString(to)
	return fmt.Appendf(nil, "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>%s</title>\n"+
		"<meta http-equiv=\"refresh\" content=\"0; url=%s\">\n<p>%s leads to <a href=\"%s\">%s</a>.</p>\n",
		visible(from), href, visible(from), href, visible(final))
}
