package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/anet-hub/anet/e2e/stage"
)

// tick is the unit of the times in /proc (USER_HZ, the same on every Linux).
const tick = 0.01

// cpu is the seconds of CPU that processes have used.
func cpu(pids ...int) (seconds float64) {
	for _, pid := range pids {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		_, after, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(after)
		if len(fields) < 15 {
			continue
		}
		for _, field := range fields[11:13] { // utime, stime
			n, _ := strconv.ParseFloat(field, 64)
			seconds += n * tick
		}
	}
	return seconds
}

// resident is the memory a process holds, in MB.
func resident(pid int) float64 {
	kb, _ := strconv.ParseFloat(firstOf(fmt.Sprintf("/proc/%d/status", pid), `VmRSS:\s*(\d+)`), 64)
	return kb / 1024
}

// spent is CPU time, in seconds, of those who have a part in an answer.
type spent struct{ hub, database, load float64 }

func spentBy(h *stage.HubProcess) spent {
	return spent{cpu(h.PID()), cpu(stage.Group(h.Postmaster())...), cpu(os.Getpid())}
}

// add adds what was spent between two looks.
func (s *spent) add(before, after spent) {
	s.hub += after.hub - before.hub
	s.database += after.database - before.database
	s.load += after.load - before.load
}

// each tells it for one of n answers.
func (s spent) each(n float64) string {
	ms := func(seconds float64) float64 { return 1000 * seconds / n }
	return fmt.Sprintf("%.2f ms of CPU (PostgreSQL %.2f, hub %.2f, load %.2f)",
		ms(s.hub+s.database+s.load), ms(s.database), ms(s.hub), ms(s.load))
}
