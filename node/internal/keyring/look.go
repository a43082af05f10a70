package keyring

import (
	"time"

	"github.com/anet-hub/anet/node/internal/datadir"
)

// View is what may be shown of a folder's keys.
type View struct {
	AID    string
	KeySeq uint64
	KEL    []byte
	Due    time.Time // when the encryption keys are to be renewed
}

// Look reads the folder's keys and changes nothing, so that it may be done
// beside a running node; Open would renew what is due.
func Look(dir datadir.Dir) (View, error) {
	signer, err := loadSigner(dir)
	if err != nil {
		return View{}, err
	}
	ring, err := loadRing(dir)
	if err != nil {
		return View{}, err
	}
	return View{AID: signer.AID(), KeySeq: signer.Seq(), KEL: signer.KEL(), Due: ring.Due()}, nil
}
