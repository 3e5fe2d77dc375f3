package politeness

import (
	"testing"
	"time"
)

func TestWindowNext(t *testing.T) {
	hour := time.Hour
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no time zones here")
	}
	tests := []struct {
		name     string
		w        Window
		at, want string
	}{
		{"before it", Window{8 * hour, 10 * hour, nil}, "2026-03-01T07:59:59Z", "2026-03-01T07:59:59Z"},
		{"its start is in it", Window{8 * hour, 10 * hour, nil}, "2026-03-01T08:00:00Z", "2026-03-01T10:00:00Z"},
		{"its end is not", Window{8 * hour, 10 * hour, nil}, "2026-03-01T10:00:00Z", "2026-03-01T10:00:00Z"},
		{"over midnight, before it", Window{22 * hour, 6 * hour, nil}, "2026-03-01T23:00:00Z", "2026-03-02T06:00:00Z"},
		{"over midnight, after it", Window{22 * hour, 6 * hour, nil}, "2026-03-01T05:00:00Z", "2026-03-01T06:00:00Z"},
		{"an empty one", Window{8 * hour, 8 * hour, nil}, "2026-03-01T08:00:00Z", "2026-03-01T08:00:00Z"},
		{"in a time zone", Window{8 * hour, 10 * hour, berlin}, "2026-03-01T07:30:00Z", "2026-03-01T09:00:00Z"},
		{"on the day the clocks go forward", Window{22 * hour, 6 * hour, berlin}, "2026-03-28T22:00:00Z",
			"2026-03-29T04:00:00Z"},
		{"on the day they go back", Window{22 * hour, 6 * hour, berlin}, "2026-10-24T21:00:00Z",
			"2026-10-25T05:00:00Z"},
		{"to the end of the day", Window{20 * hour, 24 * hour, nil}, "2026-03-01T23:59:59Z", "2026-03-02T00:00:00Z"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			at, _ := time.Parse(time.RFC3339, tt.at)
			want, _ := time.Parse(time.RFC3339, tt.want)
			if got := tt.w.Next(at); !got.Equal(want) {
				t.Errorf("got %v, want %v", got.UTC(), want)
			}
		})
	}
}

// visits is a Visit-time of one window, from..to hours UTC.
type visits struct{ from, to int }

func (v visits) Next(t time.Time) time.Time {
	t = t.UTC()
	if h := t.Hour(); v.from <= h && h < v.to {
		return t
	}
	s := time.Date(t.Year(), t.Month(), t.Day(), v.from, 0, 0, 0, time.UTC)
	if s.Before(t) {
		s = s.AddDate(0, 0, 1)
	}
	return s
}

func TestHoursHoldTheHost(t *testing.T) {
	hour := time.Hour
	morning := Rules{Visit: visits{6, 9}, VisitLine: 5}
	lunch := Options{Quiet: []Window{{Start: 12 * hour, End: 13 * hour}}}
	tests := []struct {
		name  string
		o     Options
		steps []step
	}{
		{"quiet hours hold it", lunch, []step{next(0, hour, "quiet hours until 2026-03-01 13:00 UTC")}},
		{"a pause that ends in quiet hours ends with them",
			Options{Delay: 2 * hour, Quiet: []Window{{Start: 13 * hour, End: 15 * hour}}},
			[]step{start(0), done(0, ok), next(0, 3*hour, "quiet hours")}},
		{"visit-time holds it till the next day", Options{}, []step{rulesAre(0, morning),
			next(0, 18*hour, "visit-time (robots.txt line 5), until 2026-03-02 06:00 UTC")}},
		{"visit-time and quiet hours together", Options{Quiet: []Window{{Start: 5 * hour, End: 8 * hour}}},
			[]step{rulesAre(0, morning), next(0, 20*hour, "quiet hours until 2026-03-02 08:00")}},
		{"quiet hours that follow each other", Options{Quiet: []Window{{Start: 14 * hour, End: 15 * hour},
			{Start: 13 * hour, End: 14 * hour}, {Start: 12 * hour, End: 13 * hour}}},
			[]step{next(0, 3*hour, "")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { play(t, tt.o, tt.steps) })
	}
}

func TestHoursThatNeverOpen(t *testing.T) {
	h := NewHost(Options{Quiet: []Window{{Start: 0, End: 12 * time.Hour},
		{Start: 12 * time.Hour, End: 24 * time.Hour}}})
	if w := h.Next(noon); !w.At.After(noon) {
		t.Errorf("may begin at %v", w.At)
	}
}
