package migrations

var (
	UpTo     = upTo
	Versions = versions
	Files    = files
	Read     = read
)

const LockKey = lockKey
