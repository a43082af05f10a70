package embedpg

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/anet-hub/anet/shared/errs"
)

// account is the user the server runs as. PostgreSQL refuses to run as root,
// so a hub started as root runs it as somebody else.
type account struct {
	uid, gid uint32
	switched bool // another user than ours
}

// chooseAccount prefers who already owns the files, so that a folder once
// used goes on working whoever starts the hub.
func chooseAccount(clusterDir, dataDir string) (account, error) {
	self := account{uid: uint32(os.Geteuid()), gid: uint32(os.Getegid())}
	owner, exists := ownerOf(clusterDir)
	switch {
	case exists && owner.uid == 0:
		return account{}, fmt.Errorf("%s belongs to root, and PostgreSQL does not run as root: give it to another user (chown -R postgres %s)", clusterDir, clusterDir)
	case self.uid != 0 && exists && owner.uid != self.uid:
		return account{}, fmt.Errorf("%s belongs to user %d: start the hub as that user or as root", clusterDir, owner.uid)
	case self.uid != 0:
		return self, nil
	case exists:
		return owner, nil
	}
	if owner, exists = ownerOf(dataDir); exists && owner.uid != 0 {
		return owner, nil
	}
	return unprivileged()
}

// unprivileged is the system's user for PostgreSQL, else the one for nothing.
func unprivileged() (account, error) {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, _ := strconv.ParseUint(u.Uid, 10, 32)
		gid, _ := strconv.ParseUint(u.Gid, 10, 32)
		if uid != 0 {
			return account{uid: uint32(uid), gid: uint32(gid), switched: true}, nil
		}
	}
	return account{}, errors.New("PostgreSQL does not run as root and there is no user postgres or nobody: start the hub as an ordinary user")
}

func ownerOf(path string) (account, bool) {
	info, err := os.Stat(path)
	if err != nil {
		return account{}, false
	}
	st := info.Sys().(*syscall.Stat_t)
	return account{uid: st.Uid, gid: st.Gid, switched: int(st.Uid) != os.Geteuid()}, true
}

// attr starts a program as this account, in a process group of its own: a
// Ctrl-C at the hub's terminal must not stop the database under its feet.
func (a account) attr() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if a.switched {
		attr.Credential = &syscall.Credential{Uid: a.uid, Gid: a.gid}
	}
	return attr
}

// give hands a file over to the account.
func (a account) give(path string) error {
	if !a.switched {
		return nil
	}
	return os.Chown(path, int(a.uid), int(a.gid))
}

// privateFolder makes a folder that only the account can enter, and accepts
// one that is already there only if that is so: in /tmp anybody may have been first.
func (a account) privateFolder(dir string) error {
	err := os.Mkdir(dir, 0o700)
	switch {
	case err == nil:
		return a.give(dir)
	case !errors.Is(err, fs.ErrExist):
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	st := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || st.Uid != a.uid || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s exists and is not a private folder of user %d: remove it", dir, a.uid)
	}
	return nil
}

// barred explains why the account cannot enter dir, nil when it can.
func (a account) barred(dir string) error {
	if !a.switched {
		return nil
	}
	for at := dir; ; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err == nil && !a.enters(info) {
			return errs.New(errs.Unavailable, "data_dir_not_enterable",
				"PostgreSQL does not run as root but as %s, who cannot enter %s: choose another data folder, or allow it (chmod o+x %s)",
				a.name(), at, at)
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

func (a account) enters(folder fs.FileInfo) bool {
	st, mode := folder.Sys().(*syscall.Stat_t), folder.Mode().Perm()
	switch {
	case st.Uid == a.uid:
		return mode&0o100 != 0
	case st.Gid == a.gid:
		return mode&0o010 != 0
	}
	return mode&0o001 != 0
}

func (a account) name() string {
	id := strconv.FormatUint(uint64(a.uid), 10)
	if u, err := user.LookupId(id); err == nil {
		return "user " + u.Username
	}
	return "user " + id
}
