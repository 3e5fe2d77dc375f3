// Package replay answers: how does a browser show what is kept, without
// reaching the network? It is two web servers:
//
//	UI       start page, banner with a frame, versions, search, Memento (RFC 7089)
//	content  the kept pages themselves, with their references rewritten
//
// The content has an origin of its own, so that nothing of it can reach the UI
// or other archives. It is shown in a sandboxed frame: the UI's policy lets the
// frame hold nothing but content, and that of the content lets a page ask nobody
// but the content's server. What policies do not govern, WebRTC and WebTransport,
// is taken from the page before its first script runs.
//
//	server.go   who may ask: Host, Origin, methods
//	address.go  /20260102030405/http://host/path?query
//	lookup.go   which capture is shown, and publish.Permits
//	page.go, views.go   the UI; content.go, body.go, header.go, rewrite.go   the content
//	memento.go  TimeGate and TimeMap
package replay
