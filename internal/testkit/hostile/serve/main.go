// Command serve serves hostile fixtures for scripts. It writes its origin to a file and, at the
// end, the number of requests to standard output.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"curtsy/internal/testkit/hostile"
)

func main() {
	names := flag.String("fixtures", "shared", "`names` separated by commas; shared: all that one server can hold")
	address := flag.String("addr", "127.0.0.1:0", "where to listen")
	urlFile := flag.String("url-file", "", "write the origin into this `file`")
	list := flag.Bool("list", false, "print line, name and attack of every fixture, and exit")
	flag.Parse()
	if *list {
		for _, f := range hostile.List() {
			fmt.Printf("%d\t%s\t%s\t%t\t%s\n", f.Line, f.Name,
				map[bool]string{true: "alone", false: "shared"}[f.Robots != nil], f.Heavy, f.Attack)
		}
		return
	}
	if err := run(*names, *address, *urlFile); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(names, address, urlFile string) error {
	fixtures := hostile.Shared()
	if names != "shared" {
		fixtures = nil
		for name := range strings.SplitSeq(names, ",") {
			f := hostile.Find(name)
			if f == nil {
				return fmt.Errorf("no fixture %q", name)
			}
			fixtures = append(fixtures, f)
		}
	}
	s, err := hostile.Start(address, fixtures...)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := os.WriteFile(urlFile, []byte(s.Origin+"\n"), 0o644); err != nil {
		return err
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	<-stop
	for _, bad := range s.Improper() {
		fmt.Println("improper:", bad)
	}
	total := 0
	for _, n := range s.Requests() {
		total += n
	}
	fmt.Println("requests:", total)
	return nil
}
