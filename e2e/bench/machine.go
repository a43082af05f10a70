package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// Machine is where a report was taken.
type Machine struct {
	Cores    int       `json:"cores"`
	CPU      string    `json:"cpu"`
	MemoryMB int       `json:"memory_mb"`
	Kernel   string    `json:"kernel"`
	Postgres string    `json:"postgres"`
	Go       string    `json:"go"`
	Load     string    `json:"load_before"`
	Taken    time.Time `json:"taken"`
}

func thisMachine() Machine {
	m := Machine{Cores: runtime.NumCPU(), Go: runtime.Version(), Taken: time.Now().UTC().Truncate(time.Second)}
	m.CPU = firstOf("/proc/cpuinfo", `model name\s*: (.*)`)
	fmt.Sscan(firstOf("/proc/meminfo", `MemTotal:\s*(\d+)`), &m.MemoryMB)
	m.MemoryMB /= 1024
	m.Kernel = firstOf("/proc/sys/kernel/osrelease", `(.*)`)
	m.Load = firstOf("/proc/loadavg", `(\S+)`)
	if out, err := exec.Command("psql", "--version").Output(); err == nil {
		m.Postgres = strings.TrimPrefix(strings.TrimSpace(string(out)), "psql (PostgreSQL) ")
	}
	return m
}

func firstOf(file, pattern string) string {
	text, _ := os.ReadFile(file)
	if m := regexp.MustCompile(pattern).FindSubmatch(text); m != nil {
		return string(m[1])
	}
	return ""
}

func (m Machine) String() string {
	return fmt.Sprintf("%s: %d cores (%s), %d MB, Linux %s, PostgreSQL %s, %s, load before the run %s",
		m.Taken.Format(time.RFC3339), m.Cores, m.CPU, m.MemoryMB, m.Kernel, m.Postgres, m.Go, m.Load)
}
