package rebuild

import (
	"slices"
	"time"

	"curtsy/crawler/revisit"
	"curtsy/crawler/status"
	"curtsy/frontier/judge"
	"curtsy/storage/crawllog"
)

// noteRound records when the round of a visit began, as its record says.
func (b *rebuilder) noteRound(n *crawllog.Note) {
	if n.Round < 1 || n.Round > maxRounds || n.Began.IsZero() {
		return
	}
	for len(b.state.Rounds) < n.Round {
		b.state.Rounds = append(b.state.Rounds, time.Time{})
	}
	b.state.Rounds[n.Round-1] = n.Began
}

// maxRounds bounds the round number that a record may state.
const maxRounds = 1 << 16

// rounds restores the state of the rounds: when each began, the totals before the last one, and which
// responses took the place of several pages.
func (b *rebuilder) rounds() error {
	list := b.state.Rounds
	if len(list) == 0 {
		return nil
	}
	// A round without records ended before the next one began.
	for i := len(list) - 2; i >= 0; i-- {
		if list[i].IsZero() || list[i].After(list[i+1]) {
			list[i] = list[i+1]
		}
	}
	// Which visits are good depends on what earlier rounds found suspect.
	for i, began := range list {
		ended := time.Time{}
		if i+1 < len(list) {
			ended = list[i+1]
		}
		if err := b.markAnswers(began, ended); err != nil {
			return err
		}
	}
	last := &status.Round{N: len(list), Began: list[len(list)-1], Listed: true, Planned: true}
	b.state.Round = last
	for visits, err := range b.a.Histories() {
		if err != nil {
			return err
		}
		page := false
		for _, v := range visits {
			if v.At.Before(last.Began) {
				last.Bytes += v.Length
				page = page || v.Class == judge.Page.String() && v.Status > 0
			}
		}
		if page {
			last.Pages++
		}
	}
	return nil
}

// markAnswers marks the visits of one round in which one response took the place of several pages.
func (b *rebuilder) markAnswers(began, ended time.Time) error {
	suspect, err := revisit.Answers{}.Recall(b.a, began, ended)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(suspect, rebuildBatch) {
		for _, ref := range some {
			if err := b.a.Amend(ref, func(v *crawllog.Visit) { v.Suspect = revisit.SameBody }); err != nil {
				return err
			}
		}
		if err := b.commitFrontier(); err != nil {
			return err
		}
	}
	return nil
}
