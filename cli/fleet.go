package cli

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"curtsy/fleet"
	"curtsy/fleet/engine"
	"curtsy/internal/legible"
)

// fleetAt says how to reach a fleet.
type fleetAt struct {
	dir           string // directory of a process on this machine
	join          string // URLs of servers
	cert, key, ca string
}

func fleetCmd(u *ui) *cobra.Command {
	at := &fleetAt{dir: "fleet"}
	c := &cobra.Command{
		Use:  "fleet",
		Args: noUnknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	flags(c.PersistentFlags(), vars{"dir": &at.dir, "join": &at.join, "tls-cert": &at.cert, "tls-key": &at.key,
		"tls-ca": &at.ca})
	c.AddCommand(fleetServeCmd(u, at), fleetAddCmd(u, at), fleetStatusCmd(u, at), fleetWhyCmd(u, at),
		fleetNamesCmd(u, at, "pause"), fleetNamesCmd(u, at, "go"), fleetNamesCmd(u, at, "remove"),
		fleetSetCmd(u, at), fleetWatchCmd(u, at), fleetDrainCmd(at), fleetPullCmd(u, at))
	return c
}

func (at *fleetAt) dial(needs engine.Role) (*nats.Conn, error) {
	if at.join == "" {
		return engine.DialSocket(at.dir)
	}
	conf, err := at.tls()
	if err == nil && conf == nil {
		err = usagef("--tls-cert, --tls-key and --tls-ca", "--join needs a certificate, on loopback as well")
	}
	if err != nil {
		return nil, err
	}
	if role := engine.OwnRole(conf); role != "" && !role.May(needs) { // the servers would reject it too
		return nil, usagef("a certificate with OU="+string(needs), "the certificate's role is %s; this needs %s", role,
			needs)
	}
	return engine.Dial(at.join, conf)
}

// with connects to the fleet for one kind of request, and closes the connection after use.
func (at *fleetAt) with(do string, use func(*nats.Conn) error) error {
	n, err := at.dial(fleet.Needs(do))
	if err != nil && at.join == "" {
		err = exitWith(exitFailed, err, "curtsy fleet serve --dir "+quoted(at.dir)+", and leave it running")
	}
	if err != nil {
		return err
	}
	defer n.Close()
	return use(n)
}

// ask sends one request to the fleet.
func (at *fleetAt) ask(q fleet.Ask) (a fleet.Answer, err error) {
	err = at.with(q.Do, func(n *nats.Conn) (err error) {
		a, err = fleet.Request(n, q)
		return err
	})
	return a, err
}

// tls returns the TLS configuration for mutual authentication with certificates of the fleet's
// own authority; nil if no files are given.
func (at *fleetAt) tls() (*tls.Config, error) {
	if at.cert == "" && at.key == "" && at.ca == "" {
		return nil, nil
	}
	if at.cert == "" || at.key == "" || at.ca == "" {
		return nil, usagef("all three", "--tls-cert, --tls-key and --tls-ca must be given together")
	}
	cert, err := tls.LoadX509KeyPair(at.cert, at.key)
	if err != nil {
		return nil, usagef("--tls-cert and --tls-key, in PEM", "%v", err)
	}
	pem, err := os.ReadFile(at.ca)
	if err != nil {
		return nil, usagef("--tls-ca FILE, in PEM", "%v", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, usagef("--tls-ca FILE, in PEM", "%s contains no certificate", at.ca)
	}
	return &tls.Config{Certificates: []tls.Certificate{cert}, RootCAs: pool, ClientCAs: pool,
		ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS13}, nil
}

func fleetNamesCmd(u *ui, at *fleetAt, do string) *cobra.Command {
	return newCommand(do+" HOST...", nil, func(_ *cobra.Command, a []string) error {
		names := fleetNames(a)
		return at.with(do, func(n *nats.Conn) error {
			if _, err := fleet.Request(n, fleet.Ask{Do: do, Names: names}); err != nil || do == "go" {
				return err
			}
			return fleetStopped(u, n, do, names)
		})
	})
}

// stopWait is how long pause and remove wait for crawls to finish and save requests in flight.
const stopWait = 30 * time.Second

// fleetStopped waits for the crawls of paused or removed sites to stop, and prints that.
func fleetStopped(u *ui, n *nats.Conn, do string, names []string) error {
	left := map[string]string{}
	for end := time.Now().Add(stopWait); ; time.Sleep(200 * time.Millisecond) {
		a, err := fleet.Request(n, fleet.Ask{Do: "stopped", Names: names})
		if err != nil {
			return err
		}
		clear(left)
		for _, s := range a.Sites {
			left[s.Name] = s.Worker
		}
		if len(left) == 0 || time.Now().After(end) {
			break
		}
	}
	for _, name := range names {
		if worker, ok := left[name]; ok {
			u.say("%s: %sd; worker %s still finishes what is in flight", name, do, worker)
			continue
		}
		u.say("%s: %sd; no request is sent any more", name, do)
	}
	return nil
}

// fleetNames converts hosts or seeds to names of sites.
func fleetNames(args []string) (names []string) {
	for _, a := range args {
		if _, rest, ok := strings.Cut(a, "://"); ok {
			a, _, _ = strings.Cut(rest, "/")
		}
		names = append(names, fleet.Name(a))
	}
	return names
}

func fleetDrainCmd(at *fleetAt) *cobra.Command {
	return newCommand("drain WORKER", nil, func(_ *cobra.Command, a []string) error {
		_, err := at.ask(fleet.Ask{Do: "drain", Worker: a[0]})
		return err
	})
}

func fleetWhyCmd(u *ui, at *fleetAt) *cobra.Command {
	return newCommand("why HOST...", nil, func(_ *cobra.Command, a []string) error {
		answer, err := at.ask(fleet.Ask{Do: "why", Names: fleetNames(a)})
		if err != nil {
			return err
		}
		for line := range strings.Lines(answer.Text) {
			u.print("%s", strings.TrimSuffix(line, "\n"))
		}
		return nil
	})
}

// fleetShown are the flags of status and watch.
type fleetShown struct {
	state, worker string
	json          bool
}

func fleetStatusCmd(u *ui, at *fleetAt) *cobra.Command {
	f := &fleetShown{}
	list := vars{"state": &f.state, "worker": &f.worker, "json": &f.json}
	return newCommand("status", list, func(*cobra.Command, []string) error {
		return at.with("status", func(n *nats.Conn) error { return f.status(u, n) })
	})
}

func fleetWatchCmd(u *ui, at *fleetAt) *cobra.Command {
	f, every := &fleetShown{state: "running"}, 2*time.Second
	list := vars{"state": &f.state, "worker": &f.worker, "every": &every}
	return newCommand("watch", list, func(*cobra.Command, []string) error {
		if every < 100*time.Millisecond {
			return usagef("--every 2s", "--every %s is too short", every)
		}
		stop, release := u.until()
		defer release()
		return at.with("status", func(n *nats.Conn) error {
			for {
				if err := f.status(u, n); err != nil {
					return err
				}
				select {
				case <-stop.Done():
					return nil
				case <-time.After(every):
				}
			}
		})
	})
}

func (f *fleetShown) status(u *ui, n *nats.Conn) error {
	q := fleet.Ask{Do: "status", State: f.state, Worker: f.worker}
	var first *fleet.Answer
	for first == nil || q.After != "" {
		a, err := fleet.Request(n, q)
		if err != nil {
			return err
		}
		first, q.After = cmp.Or(first, &a), ""
		for _, s := range a.Sites {
			printSite(u, &s, f.json)
			if a.More {
				q.After = s.Name
			}
		}
	}
	if !f.json {
		fleetTotals(u, first)
	}
	return nil
}

func printSite(u *ui, s *fleet.SiteStatus, asJSON bool) {
	if asJSON {
		u.json(s)
		return
	}
	more := s.Worker
	if s.State == "scheduled" || s.State == "failed" {
		more = u.time(*s.Due)
	}
	u.print("%-9s  %-32s  %6d fetched  %6d queued  %s", s.State, oneLine(s.Name), s.Fetched, s.Queued, oneLine(more))
}

// fleetTotals prints the number of sites by state, and problems with the store.
func fleetTotals(u *ui, a *fleet.Answer) {
	if a.Text != "" {
		u.say("%s", oneLine(a.Text))
	}
	text := legible.Count(a.Total, "site")
	for _, state := range fleet.States() {
		if n := a.States[state]; n > 0 {
			text += fmt.Sprintf(", %d %s", n, state)
		}
	}
	workers, servers := 0, 0
	for _, w := range a.Worker {
		var about fleet.About
		if json.Unmarshal(w.About, &about) == nil && about.Slots == 0 {
			servers++
		} else {
			workers++
		}
		if about.Store != "" {
			u.say("%s: %s", w.Name, oneLine(about.Store))
		}
	}
	text += fmt.Sprintf("; %d fetched, %s; %s", a.Pages, legible.Bytes(a.Bytes), legible.Count(workers, "worker"))
	if servers > 0 {
		text += ", " + legible.Count(servers, "server") + " without slots"
	}
	u.say("%s", text)
}
