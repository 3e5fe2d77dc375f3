package cli

import (
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"curtsy/identity"
)

// identityCmd makes keys to sign requests with, and shows what is to be published.
func identityCmd(u *ui) *cobra.Command {
	c := &cobra.Command{
		Use:   "identity",
		Short: "a key that requests are signed with, so that sites can tell who is asking",
		Long: "A key signs requests by Web Bot Auth (RFC 9421 with Ed25519): crawl --identity FILE. Whoever is asked\n" +
			"finds the public key on your site and knows that the User-Agent is true. A signature names its bearer.",
	}
	var site string
	var wacz bool
	make := &cobra.Command{
		Use:   "new FILE",
		Short: "make a key, in a file that only you may read, and print its public half as a JWKS",
		Example: "  curtsy identity new me.key --site https://you.example > directory.json\n  curtsy crawl https://example.org/ --identity me.key --contact you@you.example\n" +
			"  curtsy identity new --wacz sign.key\n  curtsy export site site.wacz --sign sign.key",
		Args: wants("FILE"),
		RunE: func(_ *cobra.Command, a []string) error {
			if wacz {
				return newSigner(u, a[0])
			}
			i, err := identity.New(site)
			if err != nil {
				return usagef("--site https://you.example", "--site: %v", err)
			}
			if err := i.Write(a[0]); err != nil {
				return secretError(err, a[0])
			}
			return showIdentity(u, i, a[0])
		},
	}
	make.Flags().StringVar(&site, "site", "", "your own site, `https://…`, which is to publish the public key")
	make.Flags().BoolVar(&wacz, "wacz", false,
		"make a key that signs archives instead: export DIR OUT.wacz --sign FILE")
	make.MarkFlagsMutuallyExclusive("site", "wacz")
	c.AddCommand(make, &cobra.Command{
		Use:   "show FILE",
		Short: "print the public key of FILE as a JWKS, and where to publish it",
		Args:  wants("FILE"),
		RunE: func(_ *cobra.Command, a []string) error {
			i, err := readIdentity(a[0])
			if err != nil {
				return err
			}
			return showIdentity(u, i, a[0])
		},
	})
	return c
}

// newSigner makes a key that signs archives, and prints its public half.
func newSigner(u *ui, path string) error {
	s, err := identity.NewSigner()
	if err != nil {
		return err
	}
	if err := s.Write(path); err != nil {
		return secretError(err, path)
	}
	u.print("%s", s.PublicKey())
	u.say("this is the public key: publish it where people know that it is yours; curtsy verify FILE.wacz prints it")
	return nil
}

// secretError is an error of writing a new key.
func secretError(err error, path string) error {
	if errors.Is(err, fs.ErrExist) {
		return usagef("another FILE, or curtsy identity show "+quoted(path), "%s: already there", path)
	}
	return fileError(err)
}

func showIdentity(u *ui, i *identity.Identity, path string) error {
	u.print("%s", i.JWKS())
	u.say("publish this at %s%s, as %s", i.Site(), identity.Directory, identity.DirectoryType)
	u.say("then: curtsy crawl URL --identity %s; keep that file to yourself", quoted(path))
	return nil
}

// readIdentity reads a key for --identity.
func readIdentity(path string) (*identity.Identity, error) {
	i, err := identity.Read(path)
	switch {
	case errors.Is(err, identity.ErrOpen):
		return nil, exitWith(exitUsage, err, "chmod 600 "+quoted(path))
	case err != nil:
		return nil, exitWith(exitUsage, err, "curtsy identity new FILE --site https://you.example")
	}
	return i, nil
}
