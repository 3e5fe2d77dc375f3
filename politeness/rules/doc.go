// Package rules answers: may this URL be fetched, says the site's owner? It
// reads robots.txt (RFC 9309, with the 1994 standard and Yandex's extensions
// on request). It is pure: text in, values out, no I/O.
//
// The way of a robots.txt: text.go makes lines of octets, fields.go names
// their fields, parse.go makes groups of them, group.go picks the ones that
// hold for the agents, pattern.go puts their rules and the URL into one form, and
// verdict.go finds the rule that decides (temoto.go has temoto/robotstxt match
// each pattern too, and the stricter reading holds).
package rules
