package voucher

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/payment"
)

// Kept is a payment for which no voucher was received yet. It is on disk before
// anybody can have it, so that a purchase which was cut off at any point goes on with
// the same payment. Who is at work on it holds it locked.
type Kept struct {
	URL         string    `json:"url"`
	Seller      string    `json:"seller"`
	Capability  string    `json:"capability"`
	Payment     string    `json:"payment"` // for PAYMENT-SIGNATURE
	Transaction string    `json:"transaction"`
	Amount      string    `json:"amount"`
	Signed      time.Time `json:"signed"`
	Expires     time.Time `json:"expires"`

	path string
	file *os.File
}

// forgotten is how long after its end a payment is of no interest: a voucher of it would
// have been of no use for as long.
const forgotten = 24 * time.Hour

// purchases is the folder they are kept in.
const purchases = "purchases"

// Keep writes a payment down. It is locked before it has its name: nobody takes it
// for one that was left behind.
func Keep(dir datadir.Dir, k Kept) (*Kept, error) {
	folder, err := datadir.Open(dir.Path(purchases))
	if err != nil {
		return nil, err
	}
	k.path = folder.Path(k.Transaction + ".json")
	if k.file, err = os.CreateTemp(folder.String(), ".purchase.*"); err != nil {
		return nil, err
	}
	if err := k.write(); err != nil {
		return nil, errors.Join(fmt.Errorf("write %s: %w", k.path, err), os.Remove(k.file.Name()), k.Close())
	}
	return &k, nil
}

func (k *Kept) write() error {
	raw, err := json.Marshal(k)
	if err != nil {
		return err
	}
	if err := syscall.Flock(int(k.file.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	if _, err := k.file.Write(raw); err != nil {
		return err
	}
	if err := k.file.Sync(); err != nil {
		return err
	}
	if err := os.Rename(k.file.Name(), k.path); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(k.path))
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}

// Left finds a payment for an address that was left behind, nil where there is none.
func Left(dir datadir.Dir, url string) (*Kept, error) {
	names, err := filepath.Glob(dir.Path(filepath.Join(purchases, "*.json")))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		k, err := take(name)
		if err != nil {
			return nil, err
		}
		if k == nil {
			continue
		}
		switch {
		case k.URL == url:
			return k, nil
		case time.Since(k.Expires) > forgotten:
			err = k.Done()
		default:
			err = k.Close()
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// take locks a payment and reads it; nil while another process has it, or when it is
// done meanwhile.
func take(name string) (*Kept, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	k := &Kept{path: name, file: f}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil || !k.there() {
		f.Close()
		return nil, nil
	}
	raw, err := os.ReadFile(name)
	if err == nil {
		err = codec.UnmarshalJSON(raw, k)
	}
	if err != nil {
		f.Close()
		return nil, errs.New(errs.Internal, "purchase_file_broken", "%s is damaged: a payment may stand in it that moved; put it aside", name).Because(err)
	}
	return k, nil
}

// there reports whether the file that was locked is still the one of its name.
func (k *Kept) there() bool {
	mine, err := k.file.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(k.path)
	return err == nil && os.SameFile(mine, now)
}

// Useless is from when on the payment can move nothing that has not moved, also by a
// ledger whose clock is a little behind.
func (k *Kept) Useless() time.Time { return k.Expires.Add(payment.Skew + time.Minute) }

// Lapsed reports whether that time has come.
func (k *Kept) Lapsed(now time.Time) bool { return now.After(k.Useless()) }

// Done forgets it: the voucher is with who wanted it, or nothing was moved and
// nothing can be.
func (k *Kept) Done() error { return errors.Join(os.Remove(k.path), k.Close()) }

// Close leaves it for the next time.
func (k *Kept) Close() error {
	if err := k.file.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}
