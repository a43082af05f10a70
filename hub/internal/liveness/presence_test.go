package liveness

import (
	"testing"
	"time"

	"github.com/anet-hub/anet/hub/internal/directory"
)

func TestStretch(t *testing.T) {
	day := func(n float64) time.Time { return time.Unix(0, 0).Add(time.Duration(n * 24 * float64(time.Hour))) }
	for _, c := range []struct {
		why    string
		before float64
		newest [][2]float64
		want   float64
	}{
		{"the hub was always up", 70, nil, 70},
		{"an absence since then counts for nobody", 70, [][2]float64{{80, 90}}, 60},
		{"one before it does not matter", 70, [][2]float64{{50, 60}}, 70},
		{"the part of one before it is made up for", 70, [][2]float64{{65, 75}}, 60},
		{"two since then", 70, [][2]float64{{95, 96}, {80, 90}}, 59},
		{"one comes into sight behind another", 70, [][2]float64{{80, 90}, {60, 65}}, 55},
	} {
		var newest []Absence
		for _, a := range c.newest {
			newest = append(newest, Absence{day(a[0]), day(a[1])})
		}
		if got := Stretch(day(c.before), newest); !got.Equal(day(c.want)) {
			t.Errorf("%s: %v, want %v", c.why, got.Sub(day(0)), day(c.want).Sub(day(0)))
		}
	}
}

// What was set to be short must not be noticed late.
func TestPaceFollowsTheAges(t *testing.T) {
	for _, ages := range []directory.Ages{directory.UsualAges, {Quiet: time.Second, Hidden: 3 * time.Second}} {
		if r := resolutionIn(ages.Quiet); r <= 0 || r > ages.Quiet/6 {
			t.Errorf("quiet after %s: an agent is written every %s", ages.Quiet, r)
		}
		if g, tour := gapIn(ages.Hidden), tourIn(ages.Hidden); g/5 <= 0 || g > ages.Hidden/6 || tour > ages.Hidden/8 {
			t.Errorf("hidden after %s: a gap of %s, a tour every %s", ages.Hidden, g, tour)
		}
	}
}
