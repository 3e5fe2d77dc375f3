package cli

import (
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"curtsy/identity"
)

// identityCmd creates keys for signing requests, and prints what has to be published.
func identityCmd(u *ui) *cobra.Command {
	c := &cobra.Command{Use: "identity"}
	var site string
	var wacz bool
	make := newCommand("new FILE", vars{"site": &site, "wacz": &wacz}, func(_ *cobra.Command, a []string) error {
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
	})
	make.MarkFlagsMutuallyExclusive("site", "wacz")
	c.AddCommand(make, newCommand("show FILE", nil, func(_ *cobra.Command, a []string) error {
		i, err := readIdentity(a[0])
		if err != nil {
			return err
		}
		return showIdentity(u, i, a[0])
	}))
	return c
}

// newSigner creates a key for signing archives, and prints its public key.
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

// secretError converts an error of writing a new key.
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

// readIdentity reads the key of --identity.
func readIdentity(path string) (*identity.Identity, error) {
	i, err := identity.Read(path)
	return i, keyError(err, path, "curtsy identity new FILE --site https://you.example")
}

// keyError converts an error of reading a key; try is the command that creates one.
func keyError(err error, path, try string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, identity.ErrOpen):
		try = "chmod 600 " + quoted(path)
	}
	return exitWith(exitUsage, err, try)
}
