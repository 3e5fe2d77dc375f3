package sitetest

import "iter"

// Each calls f for each value of a sequence, until there is an error.
func Each[T any](values iter.Seq2[T, error], f func(T) error) error {
	for v, err := range values {
		if err == nil {
			err = f(v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
