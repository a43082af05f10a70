package main

import (
	"testing"
	"time"
)

func TestSample(t *testing.T) {
	s := sample{30, 10, 20}
	for _, tt := range []struct {
		name      string
		got, want any
	}{
		{"the median is the middle one", s.median(), 20.0},
		{"the ends are quantiles", [2]float64{s.at(0), s.at(1)}, [2]float64{10, 30}},
		{"ratios pair what was taken in one round", s.over(sample{10, 10, 40}).String(), "1 (0–3)"},
		{"one after the other takes both times", sample{30}.after(sample{60}).median(), 20.0},
		{"nothing has no median", sample{}.median(), 0.0},
		{"durations become milliseconds", millis([]time.Duration{1500 * time.Microsecond}).median(), 1.5},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, tt.got, tt.want)
		}
	}
}

// A rate is kept whatever an answer takes, and what was late counts from when
// it was due.
func TestPaceCountsFromWhenItWasDue(t *testing.T) {
	slow := true
	took, err := pace(1, 100*time.Millisecond, 100, func(int) error {
		if slow {
			time.Sleep(50 * time.Millisecond)
		}
		slow = false
		return nil
	})
	if err != nil || len(took) != 10 {
		t.Fatalf("%d answers (%v), want 10", len(took), err)
	}
	if took[1] < 25*time.Millisecond {
		t.Errorf("the answer behind a slow one took %s from when it was due, want 30 ms and more", took[1])
	}
}
