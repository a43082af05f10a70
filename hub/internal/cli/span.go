package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// span is a time in days, too: 7d, 12h, 90m. What is zero has a word of its own.
type span struct {
	d    time.Duration
	zero string // "never"
}

const day = 24 * time.Hour

// Set reads a span.
func (s *span) Set(text string) error {
	if s.zero != "" && text == s.zero {
		s.d = 0
		return nil
	}
	d, err := parseSpan(text)
	if err != nil || d <= 0 {
		return fmt.Errorf("%.40q is no time such as 7d, 12h or 90m%s", text, s.or())
	}
	s.d = d
	return nil
}

func parseSpan(text string) (time.Duration, error) {
	days, ok := strings.CutSuffix(text, "d")
	if !ok {
		return time.ParseDuration(text)
	}
	n, err := strconv.Atoi(days)
	if err != nil || n > int(1<<62/int64(day)) {
		return 0, fmt.Errorf("no number of days")
	}
	return time.Duration(n) * day, nil
}

func (s *span) or() string {
	if s.zero == "" {
		return ""
	}
	return ", or " + s.zero
}

// String writes a span as it is read.
func (s *span) String() string {
	switch {
	case s.d == 0:
		return s.zero
	case s.d%day == 0:
		return fmt.Sprint(int64(s.d/day), "d")
	}
	return s.d.String()
}

// Type names it in the help.
func (s *span) Type() string { return "time" }
