package directory

// Reserve takes memory before something is read into it.
type Reserve func(bytes int64) error

// space is the memory of a page, as its entries are read and once more in the answer.
type space struct {
	reserve Reserve
	usual   int // bytes that the page is expected to have at most
	spare   int // bytes of the one entry that may be read beyond what there is room for

	bytes int // of its entries in the answer
	taken int // bytes that there is memory for, twice
}

// grow takes memory for more than there is, twice as much each time: a page that
// turns out large has what it needs in a few steps, and the usual one takes little
// from others.
func (m *space) grow() error {
	if m.bytes < m.taken {
		return nil
	}
	more := min(max(m.taken, m.bytes, m.usual), MaxPageBytes)
	n := 2 * int64(more)
	if m.taken == 0 {
		n += int64(m.spare)
	}
	m.taken += more
	return m.reserve(n)
}

// left is how many bytes may be read into it before it grows.
func (m *space) left() int { return m.taken - m.bytes }
