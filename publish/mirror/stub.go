package mirror

import (
	"fmt"
	"html"
)

// stub makes a page that redirects to another by meta refresh. It is the file of a URL that
// redirects.
func stub(to, from, final string) []byte {
	href := html.EscapeString(to)
	return fmt.Appendf(nil, "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>%s</title>\n"+
		"<meta http-equiv=\"refresh\" content=\"0; url=%s\">\n<p>%s leads to <a href=\"%s\">%s</a>.</p>\n",
		visible(from), href, visible(from), href, visible(final))
}
