package main

import (
	"fmt"
	"slices"
	"time"
)

// sample is what one side reached, round by round.
type sample []float64

func (s sample) sorted() sample { return slices.Sorted(slices.Values(s)) }

// at is a quantile, 0 to 1.
func (s sample) at(q float64) float64 {
	if len(s) == 0 {
		return 0
	}
	return s.sorted()[int(q*float64(len(s)-1)+0.5)]
}

func (s sample) sum() (sum float64) {
	for _, v := range s {
		sum += v
	}
	return sum
}

func (s sample) median() float64 { return s.at(0.5) }

// String is the median with the smallest and the largest.
func (s sample) String() string { return s.with("%.0f") }

func (s sample) with(format string) string {
	f := func(v float64) string { return fmt.Sprintf(format, v) }
	return fmt.Sprintf("%s (%s–%s)", f(s.median()), f(s.at(0)), f(s.at(1)))
}

// over divides round by round: what disturbed the machine in one round
// disturbed both sides.
func (s sample) over(base sample) (ratios sample) {
	for i := range s {
		ratios = append(ratios, s[i]/base[i])
	}
	return ratios
}

// after is the rate of doing the one and then the other.
func (s sample) after(other sample) (both sample) {
	for i := range s {
		both = append(both, 1/(1/s[i]+1/other[i]))
	}
	return both
}

// millis are durations as a sample.
func millis(ds []time.Duration) (s sample) {
	for _, d := range ds {
		s = append(s, float64(d.Microseconds())/1000)
	}
	return s
}
