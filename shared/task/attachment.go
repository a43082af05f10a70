package task

import (
	"github.com/anet-hub/anet/shared/codec"
	"github.com/anet-hub/anet/shared/errs"
)

// MaxAttachment bounds the data of one attachment (section E.3).
const MaxAttachment = 64 << 20

// Attachment is a file carried inside a message (section F.6).
type Attachment struct {
	Name string `cbor:"1,keyasint" json:"name"`
	Mime string `cbor:"2,keyasint" json:"mime"`
	Size int64  `cbor:"3,keyasint" json:"size"`
	CID  string `cbor:"4,keyasint" json:"cid"`
	Data Bytes  `cbor:"5,keyasint" json:"-"`
}

// Bytes are read where they lie: a file may be 64 MiB, and is decoded before it
// is known whether anybody wants it. What was parsed belongs to them then.
type Bytes []byte

// UnmarshalCBOR refers into b, except where the string came in chunks.
func (d *Bytes) UnmarshalCBOR(b []byte) error {
	content, ok := codec.BytesIn(b)
	if !ok {
		return codec.Unmarshal(b, (*[]byte)(d))
	}
	*d = content
	return nil
}

// NewAttachment describes data as it will be sent.
func NewAttachment(name, mime string, data []byte) (Attachment, error) {
	if len(data) > MaxAttachment {
		return Attachment{}, tooLarge(name)
	}
	return Attachment{Name: name, Mime: mime, Size: int64(len(data)), CID: codec.RawCID(data), Data: data}, nil
}

// Check compares what the attachment says of itself with its data.
func (a Attachment) Check() error {
	switch {
	case len(a.Data) > MaxAttachment:
		return tooLarge(a.Name)
	case a.Size != int64(len(a.Data)):
		return badAttachment("the attachment %.80q holds %d bytes, not %d as it says", a.Name, len(a.Data), a.Size)
	case a.CID != codec.RawCID(a.Data):
		return badAttachment("the attachment %.80q is not the one its content id names", a.Name)
	}
	return nil
}

// CheckAll checks every attachment of a message.
func CheckAll(list []Attachment) error {
	for _, a := range list {
		if err := a.Check(); err != nil {
			return err
		}
	}
	return nil
}

func tooLarge(name string) *errs.Error {
	return errs.New(errs.TooLarge, "bad-attachment", "the attachment %.80q is larger than %d bytes", name, MaxAttachment)
}

func badAttachment(format string, args ...any) *errs.Error {
	return errs.New(errs.Invalid, "bad-attachment", format, args...)
}
