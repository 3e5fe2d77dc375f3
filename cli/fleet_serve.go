package cli

import (
	"cmp"
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"curtsy/crawler"
	"curtsy/fleet"
	"curtsy/fleet/engine"
	"curtsy/fleet/store"
	"curtsy/internal/legible"
)

// fleetServeFlags are the flags of fleet serve.
type fleetServeFlags struct {
	store, name, listen string
	metrics, logins     string
	cluster             []string
	slots, places       int
	term, save          time.Duration
	minFree             size
	verbose             bool
}

func fleetServeCmd(u *ui, at *fleetAt) *cobra.Command {
	f := &fleetServeFlags{slots: 50, places: 1, term: 30 * time.Second, save: time.Minute, minFree: 1 << 30}
	c := newCommand("serve", vars{"store": &f.store, "name": &f.name, "listen": &f.listen, "slots": &f.slots,
		"per-address": &f.places, "lease": &f.term, "save": &f.save, "min-free": &f.minFree,
		"credentials": &f.logins, "metrics": &f.metrics, "verbose,v": &f.verbose},
		func(*cobra.Command, []string) error { return f.serve(u, at) })
	c.Flags().StringSliceVar(&f.cluster, "cluster", nil, "")
	return c
}

// fleetStore is the default store of a fleet on one machine.
func fleetStore(dir string) string { return filepath.Join(dir, "store") }

func (f *fleetServeFlags) serve(u *ui, at *fleetAt) error {
	alone := len(f.cluster) == 0 && at.join == ""
	if !alone && f.store == "" {
		return usagef("--store s3://BUCKET/PREFIX", "a cluster needs a store that all its machines can reach")
	}
	if f.term < 2*time.Second {
		return usagef("--lease 30s", "--lease %s is too short", f.term)
	}
	conf, err := at.tls()
	if err != nil {
		return err
	}
	if err := f.checkCluster(at, conf); err != nil {
		return err
	}
	release, err := fleet.Lock(at.dir)
	if err != nil {
		return exitWith(exitFailed, err, "another --dir")
	}
	defer release()
	s, err := store.OpenOnceThere(context.Background(), cmp.Or(f.store, fleetStore(at.dir)),
		func(err error) { u.say("waiting for the store: %v", err) })
	if err != nil {
		return err
	}
	if f.name == "" {
		f.name, _ = os.Hostname()
		f.name = cmp.Or(f.name, "worker")
	}
	connect, nodes, closeEngine, err := f.engine(at, conf)
	if err != nil {
		return err
	}
	defer closeEngine()
	return f.work(u, at, alone, fleet.Options{Store: s, Connect: connect, Nodes: nodes})
}

// checkCluster rejects an invalid cluster before anything is started.
func (f *fleetServeFlags) checkCluster(at *fleetAt, conf *tls.Config) error {
	needs := engine.RoleServe
	switch n := len(f.cluster); {
	case n == 0 && at.join == "":
		return nil
	case n > 0 && at.join != "":
		return usagef("one of them", "--cluster makes this process a server, --join a worker of other servers")
	case n == 1 || n == 2:
		return usagef("three servers, or no --cluster on one machine",
			"--cluster: %s cannot agree on anything when one is away", legible.Count(n, "server"))
	case n == 0:
		needs = engine.RoleWork
	}
	if conf == nil {
		return usagef("--tls-cert, --tls-key and --tls-ca", "a cluster needs certificates, on loopback as well")
	}
	if role := engine.OwnRole(conf); !role.May(needs) {
		return usagef("a certificate with OU="+string(needs), "the certificate's role is %q; this process needs %s",
			role, needs)
	}
	return nil
}

// engine starts a server, or returns how to join one.
func (f *fleetServeFlags) engine(at *fleetAt, conf *tls.Config) (connect func() (*nats.Conn, error), nodes int,
	closeEngine func(), err error) {
	if at.join != "" {
		return func() (*nats.Conn, error) { return engine.Dial(at.join, conf) }, 0, func() {}, nil
	}
	o := engine.Options{Dir: at.dir, Name: f.name, Listen: f.listen, TLS: conf, Peers: map[string]string{}}
	for _, peer := range f.cluster {
		name, address, ok := strings.Cut(peer, "=")
		if !ok {
			return nil, 0, nil, usagef("--cluster n1=HOST:PORT,n2=HOST:PORT,n3=HOST:PORT",
				"--cluster: %q is not of the form NAME=HOST:PORT", peer)
		}
		o.Peers[name] = address
	}
	server, err := engine.Start(o)
	if err != nil {
		return nil, 0, nil, err
	}
	return server.Connect, o.Nodes(), server.Close, nil
}

func (f *fleetServeFlags) work(u *ui, at *fleetAt, alone bool, o fleet.Options) error {
	logger := slog.New(slog.NewTextHandler(lineWriter{u}, &slog.HandlerOptions{Level: slog.LevelWarn}))
	if f.verbose {
		logger = u.logger(true)
	}
	known, err := readCredentials(f.logins)
	if err != nil {
		return err
	}
	quiet := u.logger(false)
	o.Name, o.Dir, o.Alone, o.Slots, o.Places = f.name, at.dir, alone, f.slots, f.places
	o.Term, o.Save, o.MinFree, o.Logger = f.term, f.save, int64(f.minFree), logger
	watched, listen := watchFleet(f.metrics, at.dir)
	o.Crawl = func(s fleet.Site) (crawler.Options, error) {
		options, err := siteOptions(s, known, quiet)
		watched(&options)
		return options, err
	}
	o.Lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
		return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	}
	ctx, stop, _, release := u.signals()
	defer release()
	w := fleet.NewWorker(o)
	endMetrics, err := listen(w)
	if err != nil {
		return err
	}
	defer endMetrics()
	u.say("worker %s serves %s; curtsy fleet add URL --dir %s adds a site", f.name, at.dir, quoted(at.dir))
	return w.Run(ctx, stop)
}
