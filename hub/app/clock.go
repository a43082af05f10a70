//go:build !faults

package app

import "time"

// clock is the time that rules go by.
var clock = time.Now
