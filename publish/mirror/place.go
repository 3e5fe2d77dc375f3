package mirror

// Place returns an error if Export could not write a mirror to out: because something else is
// there, or its parent is not writable.
func Place(out string) error {
	t, err := newTree(out)
	if err != nil {
		return err
	}
	t.discard()
	return nil
}
