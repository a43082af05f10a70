package learned

import (
	"math/rand/v2"
	"time"

	"github.com/anet-hub/anet/shared/errs"
)

// The cadence of readings (wire 2, J.4).
const (
	soonest  = 5 * time.Second
	latest   = 2 * time.Minute
	longest  = 8 * time.Minute // because a peer asks for it: within what Store believes
	rereadAt = 15              // rounds between readings from the beginning
)

// pause grows with the times that nothing was new, or that a peer failed.
func pause(times int) time.Duration { return min(soonest<<min(times, 10), latest) }

// spread keeps peers and processes from falling into step.
func spread(d time.Duration) time.Duration {
	return d*9/10 + rand.N(d/5)
}

// asked is how long a peer wants to be left alone, as far as it is granted.
func asked(failed error) time.Duration {
	if e := errs.As(failed); e != nil {
		return min(e.RetryAfter, longest)
	}
	return 0
}

// outcome says when a stream is read again.
func outcome(j Job, end, news bool, failed error, now time.Time) Outcome {
	o := Outcome{End: end, News: news}
	switch {
	case failed != nil:
		o.Failure, o.Next = failed.Error(), now.Add(max(spread(pause(j.Failures)), asked(failed)))
	case !end:
		o.Next = now // it was cut off by its time: the others first
	case news:
		o.Next = now.Add(spread(soonest))
	default:
		o.Next = now.Add(spread(pause(j.Calm)))
	}
	o.Again = end && (j.Round+1)%rereadAt == 0
	return o
}
