package engine

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"slices"

	"github.com/nats-io/nats-server/v2/server"
)

// Role is what the holder of a certificate may do. Certificates name roles as organizational
// units (OU) of their subject.
type Role string

// The roles. Each includes those before it.
const (
	RoleRead  Role = "read"  // query the state of sites
	RoleAdd   Role = "add"   // change the list of sites
	RoleWork  Role = "work"  // crawl sites: write to the board
	RoleServe Role = "serve" // be a server of the cluster
)

var roles = []Role{RoleRead, RoleAdd, RoleWork, RoleServe}

// Subjects of requests.
const (
	AskRead  = "curtsy.ask.read"
	AskAdd   = "curtsy.ask.add"
	AskPeers = "curtsy.worker." // prefix; to one of the workers, from other workers
)

// RoleOf returns the highest role that a certificate names; "" for none.
func RoleOf(c *x509.Certificate) (role Role) {
	for _, r := range roles {
		if slices.Contains(c.Subject.OrganizationalUnit, string(r)) {
			role = r
		}
	}
	return role
}

// May reports whether a role includes another.
func (r Role) May(needs Role) bool { return slices.Index(roles, r) >= slices.Index(roles, needs) }

// roleOf returns the role of a peer's first certificate; "" if there is none.
func roleOf(certs []*x509.Certificate) Role {
	if len(certs) == 0 {
		return ""
	}
	return RoleOf(certs[0])
}

// OwnRole returns the role of the certificate in conf. Without TLS, on the socket of the same
// user, it is RoleServe.
func OwnRole(conf *tls.Config) Role {
	if conf == nil || len(conf.Certificates) == 0 || conf.Certificates[0].Leaf == nil {
		return RoleServe
	}
	return RoleOf(conf.Certificates[0].Leaf)
}

// amongServers returns a configuration that requires the peer to be a server, since the fleet's
// authority also signs certificates of commands.
func amongServers(conf *tls.Config) *tls.Config {
	conf = conf.Clone()
	conf.VerifyConnection = func(s tls.ConnectionState) error {
		if role := roleOf(s.PeerCertificates); role != RoleServe {
			return fmt.Errorf("the certificate at the other end is not that of a server (OU=%s): its role is %q",
				RoleServe, role)
		}
		return nil
	}
	return conf
}

// inbox returns the prefix of reply subjects; a role cannot subscribe to those of another.
func (r Role) inbox() string { return "_INBOX_" + string(r) }

// doorkeeper gives each connection the permissions of its role.
type doorkeeper struct{}

// Check implements server.Authentication.
func (doorkeeper) Check(c server.ClientAuthentication) bool {
	if c.RemoteAddress().Network() == "pipe" { // in this process, or through the user's socket
		return true
	}
	s := c.GetTLSConnectionState()
	if s == nil {
		return false
	}
	role := roleOf(s.PeerCertificates)
	if role == "" {
		return false
	}
	c.RegisterUser(&server.User{Username: s.PeerCertificates[0].Subject.CommonName, Permissions: role.permissions()})
	return true
}

func (r Role) permissions() *server.Permissions {
	pub, sub := []string{AskRead}, []string{r.inbox() + ".>"}
	if r.May(RoleAdd) {
		pub = append(pub, AskAdd)
	}
	if r.May(RoleWork) {
		sub = append(sub, "curtsy.>")
		pub = append(pub, AskPeers+">", "_INBOX.>")
		for _, other := range roles {
			pub = append(pub, other.inbox()+".>")
		}
		const stream = "KV_" + bucket
		pub = append(pub, "$KV."+bucket+".>", "$JS.API.INFO", "$JS.API.STREAM.INFO."+stream,
			"$JS.API.STREAM.MSG.GET."+stream,
			"$JS.API.DIRECT.GET."+stream, "$JS.API.DIRECT.GET."+stream+".>", "$JS.API.CONSUMER.CREATE."+stream,
			"$JS.API.CONSUMER.CREATE."+stream+".>",
			"$JS.API.CONSUMER.DELETE."+stream+".>", "$JS.API.CONSUMER.INFO."+stream+".>", "$JS.ACK."+stream+".>",
			"$JS.FC."+stream+".>")
	}
	return &server.Permissions{Publish: &server.SubjectPermission{Allow: pub},
		Subscribe: &server.SubjectPermission{Allow: sub}}
}
