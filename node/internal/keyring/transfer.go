package keyring

import (
	"encoding/pem"

	"github.com/anet-hub/anet/node/internal/datadir"
	"github.com/anet-hub/anet/shared/errs"
	"github.com/anet-hub/anet/shared/identity"
)

// pemType marks an exported identity, so that it is not taken for a certificate
// and a certificate not for it.
const pemType = "ANET IDENTITY"

// Export is the folder's identity as text, private keys included. Whoever has
// it is the node. The encryption keys stay: they are replaced every week.
func Export(dir datadir.Dir) ([]byte, error) {
	c, err := loadSigner(dir)
	if err != nil {
		return nil, err
	}
	blob, err := c.Blob()
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{
		Type: pemType, Headers: map[string]string{"AID": c.AID()}, Bytes: blob,
	}), nil
}

// Import puts an exported identity into a folder that has none.
func Import(dir datadir.Dir, text []byte) (aid string, err error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != pemType {
		return "", errs.New(errs.Invalid, "identity_not_exported", "this is no identity exported by anet identity export")
	}
	c, err := identity.LoadController(block.Bytes)
	if err != nil {
		return "", errs.New(errs.Invalid, "identity_broken", "the exported identity is damaged").Because(err)
	}
	return c.AID(), found(dir, c)
}
