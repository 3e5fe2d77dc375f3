package mirror

// Place says whether a mirror could be made in out, as Export would find it:
// what is there is ours or nothing, and beside it may be written.
func Place(out string) error {
	t, err := newTree(out)
	if err != nil {
		return err
	}
	t.discard()
	return nil
}
