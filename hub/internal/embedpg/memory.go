package embedpg

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// sharedBuffers is how many MB a new server caches by itself on a machine of
// that many: an eighth, between PostgreSQL's own default and 1 GB. With the
// default, half of a look-up among a million agents was the way of pages from
// the system's cache to the server's.
func sharedBuffers(machineMB int) int { return min(max(machineMB/8, 128), 1024) }

// machineMB is the memory of this machine or, where that is less, what the
// container may use. Zero where the system does not tell.
func machineMB() int {
	mb := math.MaxInt
	if m := memTotal.FindStringSubmatch(readText("/proc/meminfo")); m != nil {
		kb, _ := strconv.Atoi(m[1])
		mb = kb / 1024
	}
	if bytes, err := strconv.Atoi(readText("/sys/fs/cgroup/memory.max")); err == nil {
		mb = min(mb, bytes>>20)
	}
	if mb == math.MaxInt {
		return 0
	}
	return mb
}

var memTotal = regexp.MustCompile(`MemTotal:\s*(\d+) kB`)

func readText(path string) string {
	text, _ := os.ReadFile(path)
	return strings.TrimSpace(string(text))
}
