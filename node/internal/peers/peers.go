// Package peers keeps the three lists that say whom a node works for: allow,
// trust and deny, one AID a line, in files an operator may edit by hand.
//
// They are read at every decision, so a change holds from the next message on.
// What cannot be read closes: nobody is allowed, everybody is denied.
package peers

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
)

// List is one of the three.
type List string

// The lists. Trust holds all that allow does, and lets local agents run for
// the peer besides.
const (
	Allow List = "allow"
	Trust List = "trust"
	Deny  List = "deny"
)

// Order is how the lists are shown.
var Order = []List{Trust, Allow, Deny}

// file is the list's name in the data folder.
func (l List) file() string { return "peers." + string(l) }

// Lists are the files of one data folder.
type Lists struct{ dir datadir.Dir }

// In gives the lists of a data folder.
func In(dir datadir.Dir) Lists { return Lists{dir: dir} }

// Standing is what the lists say of one peer.
type Standing struct{ Denied, Allowed, Trusted bool }

// Listed reports whether the peer may send tasks by name.
func (s Standing) Listed() bool { return !s.Denied && (s.Allowed || s.Trusted) }

// Of reads the lists for one peer. The Standing may be acted on even beside an
// error, which then says which list could not be read.
func (l Lists) Of(aid string) (Standing, error) {
	denied, denyErr := l.holds(Deny, aid)
	allowed, allowErr := l.holds(Allow, aid)
	trusted, trustErr := l.holds(Trust, aid)
	return Standing{
		Denied:  denied || denyErr != nil,
		Allowed: allowed && allowErr == nil,
		Trusted: trusted && trustErr == nil,
	}, firstOf(denyErr, allowErr, trustErr)
}

func firstOf(failures ...error) error {
	for _, err := range failures {
		if err != nil {
			return err
		}
	}
	return nil
}

func (l Lists) holds(list List, aid string) (bool, error) {
	aids, err := l.Members(list)
	return slices.Contains(aids, aid), err
}

// MaxSize bounds a list's file; a larger one counts as unreadable.
const MaxSize = 16 << 20

// Members gives the AIDs of a list in the order of its file. A line that is no
// full AID is an error: skipped, it would leave open what somebody meant to close.
func (l Lists) Members(list List) ([]string, error) {
	data, err := l.read(list)
	if err != nil {
		return nil, err
	}
	var aids []string
	for n, line := range strings.Split(string(data), "\n") {
		aid := entry(line)
		if aid != "" && !identity.ValidAID(aid) {
			return nil, errs.New(errs.Invalid, "peer_list_invalid",
				"%s, line %d is no full AID; mend or remove it", l.dir.Path(list.file()), n+1)
		}
		if aid != "" {
			aids = append(aids, aid)
		}
	}
	return aids, nil
}

func (l Lists) read(list List) ([]byte, error) {
	exists, err := l.dir.Exists(list.file())
	if err == nil && !exists {
		return nil, nil
	}
	data, err := l.dir.Read(list.file())
	if err != nil {
		return nil, errs.New(errs.Forbidden, "peer_list_unreadable", "%s cannot be read", l.dir.Path(list.file())).Because(err)
	}
	if len(data) > MaxSize {
		return nil, errs.New(errs.TooLarge, "peer_list_unreadable", "%s is larger than %d bytes", l.dir.Path(list.file()), MaxSize)
	}
	return data, nil
}

// entry is the AID of a line, "" for a comment or an empty line.
func entry(line string) string {
	before, _, _ := strings.Cut(line, "#")
	return strings.TrimSpace(before)
}

// Put moves a peer to a list. The new line is written before the old ones go,
// so a crash between them leaves a denied peer denied.
func (l Lists) Put(aid string, list List) error {
	if err := full(aid); err != nil {
		return err
	}
	if err := l.add(aid, list); err != nil {
		return err
	}
	_, err := l.remove(aid, list)
	return err
}

// Remove takes a peer off every list and says which ones held it.
func (l Lists) Remove(aid string) ([]List, error) {
	if err := full(aid); err != nil {
		return nil, err
	}
	return l.remove(aid, "")
}

// full refuses names and prefixes: a name is chosen by its owner, and a prefix
// can be made to fit.
func full(aid string) error {
	if identity.ValidAID(aid) {
		return nil
	}
	return errs.New(errs.Invalid, "aid_not_full", "%.80q is no full AID; anet find shows them", aid)
}

func (l Lists) add(aid string, list List) error {
	return l.dir.Change(list.file(), func(old []byte) ([]byte, error) {
		if holdsLine(old, aid) {
			return old, nil
		}
		if len(old) > 0 && !bytes.HasSuffix(old, []byte("\n")) {
			old = append(old, '\n')
		}
		return fmt.Appendf(old, "%s\n", aid), nil
	})
}

func holdsLine(data []byte, aid string) bool {
	for line := range strings.SplitSeq(string(data), "\n") {
		if entry(line) == aid {
			return true
		}
	}
	return false
}

// remove takes the peer off every list but one.
func (l Lists) remove(aid string, keep List) (held []List, err error) {
	for _, list := range Order {
		data, err := l.read(list)
		if err != nil {
			return held, err
		}
		if list == keep || !holdsLine(data, aid) {
			continue
		}
		held = append(held, list)
		if err := l.dir.Change(list.file(), func(old []byte) ([]byte, error) { return without(old, aid), nil }); err != nil {
			return held, err
		}
	}
	return held, nil
}

// without drops the peer's lines and keeps everything else, comments included.
func without(data []byte, aid string) []byte {
	lines := strings.SplitAfter(string(data), "\n")
	kept := slices.DeleteFunc(lines, func(line string) bool { return entry(line) == aid })
	return []byte(strings.Join(kept, ""))
}
