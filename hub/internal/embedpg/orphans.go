package embedpg

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// endOrphans ends what a killed server left. Its processes notice their server's
// death when they next wait for something, one that writes a large cluster to
// disk after seconds or minutes, and no other server starts as long as one of
// them holds the memory they shared. They can do nothing for anybody any more;
// a kill in the middle is what a crash is, and recovered from.
func (s *Server) endOrphans() {
	pids := orphans(s.cluster.dir)
	if len(pids) == 0 {
		return
	}
	s.log.Info("ending what a killed database left", "processes", pids)
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// orphans are PostgreSQL's processes in the folder, to be asked for where no
// server is alive. Nothing is found where the system does not tell.
func orphans(dir string) (pids []int) {
	own, err := os.Stat(dir)
	if err != nil {
		return nil
	}
	folders, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, folder := range folders {
		cwd, err := os.Stat(folder)
		proc := filepath.Dir(folder)
		if err != nil || !os.SameFile(cwd, own) || readText(filepath.Join(proc, "comm")) != "postgres" {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(proc)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
