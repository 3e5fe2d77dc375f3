// Package replay shows archived pages in a browser without reaching the network. It has two web
// servers:
//
//	UI       start page, banner with a frame, versions, search, Memento (RFC 7089)
//	content  the archived pages, with their references rewritten
//
// The content has an origin of its own, so that it cannot reach the UI or other archives. It is
// shown in a sandboxed frame. The UI's policy lets the frame load content only, and the content's
// policy lets a page send requests to the content server only. A guard script, which runs before
// the page's scripts, removes APIs that policies do not cover: WebRTC and WebTransport.
//
//	server.go   access: Host, Origin, methods
//	address.go  /20260102030405/http://host/path?query
//	lookup.go   which capture is shown, by publish.Permits
//	page.go, views.go   the UI; content.go, body.go, header.go, rewrite.go   the content
//	memento.go  TimeGate and TimeMap
package replay
