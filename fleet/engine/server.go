// Package engine coordinates the machines of a fleet. It embeds NATS JetStream: a server in
// this process, standalone without ports or as a member of a cluster, and in it a key-value
// bucket, the board. Everything on the board is also in the store, so the engine's data may be
// lost at any time.
package engine

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// Options of a server. Without Peers it is standalone and listens on no port.
type Options struct {
	Dir    string            // of its data and its socket
	Name   string            // of this node
	Listen string            // HOST:PORT for workers and commands; "": none
	Peers  map[string]string // by node: HOST:PORT at which others reach it, including this node
	TLS    *tls.Config       // for all connections, with client certificates required; may be nil only without ports
}

// Server is an embedded server.
type Server struct {
	ns     *server.Server
	socket net.Listener
}

// socketName is the name of the socket for commands on this machine.
const socketName = "fleet.sock"

// Socket returns the path of a server's socket.
func Socket(dir string) string { return filepath.Join(dir, socketName) }

// Start starts a server and waits until it accepts connections.
func Start(o Options) (*Server, error) {
	so, err := o.server()
	if err != nil {
		return nil, err
	}
	ns, err := server.NewServer(so)
	if err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	ns.Start()
	if !ns.ReadyForConnections(20 * time.Second) {
		ns.Shutdown()
		return nil, errors.New("engine: it does not start")
	}
	s := &Server{ns: ns}
	if err := s.share(Socket(o.Dir)); err != nil {
		ns.Shutdown()
		return nil, fmt.Errorf("engine: %w", err)
	}
	return s, nil
}

// maxStore limits the engine's data on disk: a million sites take about 1 GB, plus changes
// since the last compaction.
const maxStore = 64 << 30

func (o *Options) server() (*server.Options, error) {
	so := &server.Options{ServerName: o.Name, JetStream: true, StoreDir: filepath.Join(o.Dir, "engine"),
		SyncAlways:        true,
		JetStreamMaxStore: maxStore, JetStreamMaxMemory: 64 << 20, NoSigs: true, NoLog: true,
		DontListen: o.Listen == "",
		TLSConfig:  o.TLS, TLSVerify: o.TLS != nil, CustomClientAuthentication: doorkeeper{}}
	if o.Listen != "" {
		host, port, err := o.address(o.Listen)
		if err != nil {
			return nil, err
		}
		so.Host, so.Port = host, port
	}
	if len(o.Peers) == 0 {
		return so, nil
	}
	mine, ok := o.Peers[o.Name]
	if !ok {
		return nil, fmt.Errorf("engine: no node of the cluster is called %q", o.Name)
	}
	host, port, err := o.address(mine)
	if err != nil {
		return nil, err
	}
	so.Cluster = server.ClusterOpts{Name: "curtsy", Host: host, Port: port, TLSConfig: amongServers(o.TLS)}
	for name, address := range o.Peers {
		if name != o.Name {
			so.Routes = append(so.Routes, &url.URL{Scheme: "nats-route", Host: address})
		}
	}
	return so, nil
}

// address rejects ports without TLS, also on loopback: every user of a machine can connect to a
// port, but only one to the socket.
func (o *Options) address(s string) (host string, port int, err error) {
	host, p, err := net.SplitHostPort(s)
	if err != nil {
		return "", 0, fmt.Errorf("engine: %w", err)
	}
	if port, err = strconv.Atoi(p); err != nil || port < 1 || port > 65535 {
		return "", 0, fmt.Errorf("engine: %q is not a port", p)
	}
	if o.TLS == nil {
		return "", 0, fmt.Errorf("engine: %s: TLS and certificates are required on every port, on loopback as well", s)
	}
	if role := OwnRole(o.TLS); role != RoleServe {
		return "", 0, fmt.Errorf("engine: the certificate of a server needs OU=%s; its role is %q", RoleServe, role)
	}
	return host, port, nil
}

// share accepts connections from processes of the same user on a socket.
func (s *Server) share(path string) error {
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return err
	}
	s.socket = l
	go s.accept()
	return nil
}

func (s *Server) accept() {
	for {
		c, err := s.socket.Accept()
		if err != nil {
			return
		}
		inside, err := s.ns.InProcessConn()
		if err != nil {
			c.Close()
			continue
		}
		go pipe(c, inside)
		go pipe(inside, c)
	}
}

func pipe(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	to.Close()
	from.Close()
}

// Connect connects within the process.
func (s *Server) Connect() (*nats.Conn, error) {
	return nats.Connect("", nats.InProcessServer(s.ns), nats.MaxReconnects(-1),
		nats.ReconnectWait(100*time.Millisecond))
}

// Nodes returns the number of servers of the cluster.
func (o *Options) Nodes() int { return max(1, len(o.Peers)) }

// Close shuts the server down and waits for its end.
func (s *Server) Close() {
	s.socket.Close()
	s.ns.Shutdown()
	s.ns.WaitForShutdown()
}

// Dial connects to the servers at urls, separated by commas.
func Dial(urls string, conf *tls.Config) (*nats.Conn, error) {
	if conf == nil {
		return nil, fmt.Errorf("engine at %s: a certificate is required", urls)
	}
	c, err := nats.Connect(urls, nats.MaxReconnects(-1), nats.ReconnectWait(500*time.Millisecond),
		nats.Timeout(5*time.Second),
		nats.Secure(amongServers(conf)), nats.CustomInboxPrefix(OwnRole(conf).inbox()),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})) // errors are returned to the caller
	if errors.Is(err, nats.ErrAuthorization) {
		return nil, fmt.Errorf("engine at %s: the certificate names no role (OU=%s, %s or %s)", urls, RoleRead,
			RoleAdd, RoleWork)
	}
	if err != nil {
		return nil, fmt.Errorf("engine at %s: %w", urls, err)
	}
	return c, nil
}

// DialSocket connects to the server that runs in dir on this machine.
func DialSocket(dir string) (*nats.Conn, error) {
	c, err := nats.Connect("nats://fleet.invalid", nats.SetCustomDialer(unixDialer(Socket(dir))), nats.NoReconnect())
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err,
		syscall.ECONNREFUSED) { // no socket, or that of a server that has ended
		return nil, fmt.Errorf("no fleet is running at %s", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("no fleet is running at %s: %w", dir, err)
	}
	return c, nil
}

type unixDialer string

func (u unixDialer) Dial(string, string) (net.Conn, error) {
	return new(net.Dialer).DialContext(context.Background(), "unix", string(u))
}

// SkipTLSHandshake returns true: the socket of the same user needs no TLS.
func (u unixDialer) SkipTLSHandshake() bool { return true }
