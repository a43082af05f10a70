package web

import (
	"fmt"
	"time"
)

// Moment is a time as people and as programs read it. The zero value is never.
type Moment struct{ Words, Machine, Day string }

func momentOf(t, now time.Time) Moment {
	t = t.UTC()
	return Moment{Words: ago(now.Sub(t)), Machine: t.Format(time.RFC3339), Day: t.Format("2 January 2006")}
}

const day = 24 * time.Hour

// unit is a measure of time, the larger ones first in units.
type unit struct {
	is   time.Duration
	name string
}

var units = []unit{{365 * day, "year"}, {day, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}}

// times is how often it goes into d, in words.
func (u unit) times(d time.Duration) string {
	if n := d / u.is; n != 1 {
		return fmt.Sprintf("%d %ss", n, u.name)
	}
	return "1 " + u.name
}

// ago is a span in its largest unit. What lies ahead is a clock that runs
// differently.
func ago(d time.Duration) string {
	for _, u := range units {
		if d >= u.is && d >= time.Minute {
			return u.times(d) + " ago"
		}
	}
	return "just now"
}
