// Package rules parses robots.txt (RFC 9309; on request the 1994 standard or Yandex's extensions) and
// decides whether a URL may be fetched. It is pure: text in, values out, no I/O.
//
// text.go splits the octets into lines, fields.go identifies their fields, parse.go builds groups,
// group.go selects those for the agents, pattern.go normalizes rules and URLs, and verdict.go finds the
// deciding rule. temoto.go also matches each pattern with temoto/robotstxt; the stricter result applies.
package rules
