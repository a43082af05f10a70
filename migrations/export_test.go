package migrations

var (
	UpTo     = upTo
	Versions = versions
	Files    = files
)

const LockKey = lockKey
