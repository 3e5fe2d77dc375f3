// Command serve serves a site from a txtar file for scripts. It writes its origin to a file and
// its requests to a log.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"curtsy/internal/testkit/sitetest"
)

func main() {
	file := flag.String("site", "", "the txtar `file`")
	address := flag.String("addr", "127.0.0.1:0", "where to listen")
	urlFile := flag.String("url-file", "", "write the origin into this `file`")
	logFile := flag.String("log", "", "at the end, write the requests into this `file`: status, target")
	others := flag.String("others", "", "other origins: `name=origin,…`")
	flag.Parse()
	if err := run(*file, *address, *urlFile, *logFile, *others); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(file, address, urlFile, logFile, others string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	s, err := sitetest.Parse(text)
	if err != nil {
		return err
	}
	for pair := range strings.SplitSeq(others, ",") {
		if name, origin, ok := strings.Cut(pair, "="); ok {
			s.Other(name, origin)
		}
	}
	if err := s.Start(address); err != nil {
		return err
	}
	if err := os.WriteFile(urlFile, []byte(s.Origin+"\n"), 0o644); err != nil {
		return err
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	<-stop
	var b strings.Builder
	for _, r := range s.Requests() {
		fmt.Fprintf(&b, "%d\t%s\n", r.Status, r.Target)
	}
	if logFile == "" {
		return nil
	}
	return os.WriteFile(logFile, []byte(b.String()), 0o644)
}
