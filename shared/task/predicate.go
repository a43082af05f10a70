package task

// Op is what a Predicate does.
type Op uint64

// The operators: three that combine, four that look.
const (
	OpAnd       Op = 1
	OpOr        Op = 2
	OpNot       Op = 3
	OpArtifact  Op = 10
	OpTest      Op = 11
	OpThreshold Op = 12
	OpScope     Op = 13
)

// Predicate bounds what a task may touch (section F.2). This program carries
// predicates and never evaluates them: it hands them to the provider.
type Predicate struct {
	Op        Op           `cbor:"1,keyasint"`
	Children  []*Predicate `cbor:"2,keyasint,omitempty"` // a peer may write null for one
	Artifact  *Artifact    `cbor:"10,keyasint,omitempty"`
	Test      *Test        `cbor:"11,keyasint,omitempty"`
	Threshold *Threshold   `cbor:"12,keyasint,omitempty"`
	Scope     *Scope       `cbor:"13,keyasint,omitempty"`
}

// Artifact speaks of files.
type Artifact struct {
	PathGlob  string   `cbor:"1,keyasint"`
	Exists    bool     `cbor:"2,keyasint,omitempty"`
	MinSize   uint64   `cbor:"3,keyasint,omitempty"`
	SchemaRef string   `cbor:"4,keyasint,omitempty"`
	Contains  []string `cbor:"5,keyasint,omitempty"`
}

// Test speaks of a test run; Expect is 1 for pass, 2 for fail.
type Test struct {
	ID     string `cbor:"1,keyasint"`
	Expect uint64 `cbor:"2,keyasint"`
}

// Threshold compares a metric; Op is 1 <, 2 <=, 3 =, 4 >=, 5 >.
type Threshold struct {
	Metric string  `cbor:"1,keyasint"`
	Op     uint64  `cbor:"2,keyasint"`
	Value  float64 `cbor:"3,keyasint"`
}

// Scope names an action on things; Verb is 1 create, 2 modify, 3 delete,
// 4 call, 5 get.
type Scope struct {
	Verb       uint64   `cbor:"1,keyasint"`
	Kind       int64    `cbor:"2,keyasint"`
	Selector   Selector `cbor:"3,keyasint"`
	MergeClass int64    `cbor:"4,keyasint,omitempty"`
}

// Selector picks things; Match is 1 glob, 2 set, 3 prefix.
type Selector struct {
	Match uint64 `cbor:"1,keyasint"`
	Value string `cbor:"2,keyasint"`
}
