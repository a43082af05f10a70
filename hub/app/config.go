package app

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"
	"golang.org/x/crypto/acme/autocert"

	"github.com/anet-hub/anet/hub/internal/directory"
	"github.com/anet-hub/anet/hub/internal/httpapi"
	"github.com/anet-hub/anet/shared/cmdline"
	"github.com/anet-hub/anet/shared/wire"
)

// EnvDatabaseURL names the variable that may hold the database's URL. There is
// no such flag: a password on a command line is everybody's to read.
const EnvDatabaseURL = "ANET_HUB_DATABASE_URL"

// EnvPublicURL is the variable of --public-url.
const EnvPublicURL = "ANET_HUB_PUBLIC_URL"

// Config is everything an operator can set. Zero values of the limits are not
// meaningful; start from Defaults.
type Config struct {
	Listen    string // unix:PATH is a socket
	DataDir   string
	PublicURL string

	Domains       []string // names to obtain certificates for; none: plain HTTP
	ListenHTTP    string   // beside TLS, for challenges and redirects; "off" for none
	ACMEEmail     string
	ACMEDirectory string
	ACMECAFile    string // roots to trust at the directory

	DatabaseURL        string // empty: a private PostgreSQL in DataDir
	DatabaseURLFile    string
	DatabaseDirectURL  string // for LISTEN and session locks when DatabaseURL leads through a pooler
	DatabaseDirectFile string
	PostgresBinDir     string
	DatabaseConns      int
	NoMigrate          bool // refuse a schema that waits for migrations

	Envelope     Bytes // largest decoded envelope
	SendRate     float64
	SendBurst    int
	MailMessages int64 // per mailbox
	MailBytes    Bytes // per mailbox
	MailTotal    Bytes // all mailboxes together
	MailTTL      time.Duration
	PollBudget   Bytes

	QuietAfter  time.Duration // without a poll an agent is quiet
	HiddenAfter time.Duration // without a poll lists leave an agent out

	InviteRequired bool // AIDs that are not registered need an invite

	RegisterRate  float64 // new identities per minute and address
	RegisterBurst int

	RegistrationGrant uint64 // credits for an AID's first registration

	ReviewRate  float64 // reviews per minute and address
	ReviewBurst int

	KeysLookupRate  float64 // look-ups of keys that peers are asked for, per minute and address
	KeysLookupBurst int

	SettleRate  float64 // payments per minute and payer
	SettleBurst int

	PaymentRate  float64 // payments looked at that move nothing, per minute and address
	PaymentBurst int

	SettleAbroadRate  float64 // payments and payees that peers were asked for in vain, per minute and address
	SettleAbroadBurst int

	Memory         Bytes // bodies and answers in flight
	TrustedProxies []string
	ProxyHeader    string
	P2PPeers       bool

	Delivery   string   // of federation: on, off, or on with the first peer it is on for
	Discovery  string   // the same
	Witness    string   // of peers' chains: the same
	PeerRanges []string // called although they are not the internet
	PeersFile  string
	PeerAgents int64 // that one peer may teach
	PeerBytes  Bytes // that it may take up with them

	LogLevel  string
	LogFormat string

	Notify string // socket of a service manager that waits for the hub; see EnvNotify
}

// Defaults are the reference's (wire 2, I.9) where it has them, so that no
// node that behaves is refused.
func Defaults() Config {
	return Config{
		Listen: "127.0.0.1:8088", DataDir: defaultDataDir(), DatabaseConns: 16,
		ACMEDirectory: autocert.DefaultACMEDirectory,
		Envelope:      wire.MaxEnvelopeBytes, SendRate: 20, SendBurst: 200,
		MailMessages: 5000, MailBytes: 1 << 30, MailTotal: 64 << 30, MailTTL: wire.MailLifetime, PollBudget: 48 << 20,
		QuietAfter: directory.UsualAges.Quiet, HiddenAfter: directory.UsualAges.Hidden,
		RegisterRate: 10, RegisterBurst: 20, RegistrationGrant: 100, ReviewRate: 60, ReviewBurst: 60, KeysLookupRate: 60, KeysLookupBurst: 30,
		SettleRate: 300, SettleBurst: 600, PaymentRate: 3000, PaymentBurst: 600, SettleAbroadRate: 60, SettleAbroadBurst: 30,
		Memory: 512 << 20, TrustedProxies: []string{"127.0.0.0/8", "::1/128"}, ProxyHeader: "X-Real-IP",
		PeerAgents: 200_000, PeerBytes: 2 << 30,
		LogLevel: "info", LogFormat: "json",
	}
}

func defaultDataDir() string {
	if os.Geteuid() == 0 {
		return "/var/lib/anet-hub"
	}
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "anet-hub")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "anet-hub-data"
	}
	return filepath.Join(home, ".local", "share", "anet-hub")
}

// DatabaseFlags adds the flags that find the database. Operator commands take
// the same ones as serve, so that they meet the same hub.
func (c *Config) DatabaseFlags(fs *pflag.FlagSet) {
	fs.StringVar(&c.DataDir, "data-dir", c.DataDir, "folder of this hub's data, its private PostgreSQL included")
	fs.StringVar(&c.DatabaseURLFile, "database-url-file", "", "file with the URL of a PostgreSQL to use instead (or set "+EnvDatabaseURL+")")
	fs.StringVar(&c.DatabaseDirectFile, "database-direct-url-file", "", "file with a URL past the connection pooler, for LISTEN and locks (or set ANET_HUB_DATABASE_DIRECT_URL)")
	fs.StringVar(&c.DatabaseDirectURL, "database-direct-url", "", "such a URL itself, where no password is in it")
	fs.StringVar(&c.PostgresBinDir, "postgres-bin-dir", "", "folder of PostgreSQL's programs (found by itself where empty)")
	fs.StringVar(&c.LogLevel, "log-level", c.LogLevel, "debug, info, warn or error")
	fs.StringVar(&c.LogFormat, "log-format", c.LogFormat, "json or text")
}

// ServeFlags adds the flags of serve.
func (c *Config) ServeFlags(fs *pflag.FlagSet) {
	c.DatabaseFlags(fs)
	fs.StringVar(&c.Listen, "listen", c.Listen, "address to serve on, or unix:PATH for a proxy (with --domain :443 unless given)")
	fs.StringVar(&c.PublicURL, "public-url", "", "this hub's address as others see it (https:// and the first --domain, else from each request)")
	fs.StringSliceVar(&c.Domains, "domain", nil, "serve TLS under this name, with a certificate obtained by ACME (repeatable)")
	fs.StringVar(&c.ListenHTTP, "listen-http", "", "with --domain: address for challenges and redirects to HTTPS, or off (:80 unless given)")
	fs.StringVar(&c.ACMEEmail, "acme-email", "", "where the certificate authority may write to")
	fs.StringVar(&c.ACMEDirectory, "acme-directory", c.ACMEDirectory, "the authority's directory")
	fs.StringVar(&c.ACMECAFile, "acme-ca-file", "", "file with root certificates (PEM) to trust at the directory, beside the system's")
	fs.IntVar(&c.DatabaseConns, "database-conns", c.DatabaseConns, "connections to the database at most")
	fs.BoolVar(&c.NoMigrate, "no-migrate", false, "do not start on a schema that waits for migrations (see anet-hub migrate)")
	fs.Var(&c.Envelope, "relay-max-envelope", "largest envelope")
	fs.Float64Var(&c.SendRate, "relay-send-rate", c.SendRate, "sends a second for each sender")
	fs.IntVar(&c.SendBurst, "relay-send-burst", c.SendBurst, "sends at once for each sender")
	fs.Int64Var(&c.MailMessages, "relay-mailbox-messages", c.MailMessages, "messages waiting for one recipient")
	fs.Var(&c.MailBytes, "relay-mailbox-bytes", "bytes waiting for one recipient")
	fs.Var(&c.MailTotal, "relay-total-bytes", "bytes waiting in all mailboxes together")
	fs.DurationVar(&c.MailTTL, "relay-ttl", c.MailTTL, "how long a message waits")
	fs.Var(&c.PollBudget, "relay-poll-budget", "bytes of messages in one answer")
	fs.Float64Var(&c.RegisterRate, "register-rate", c.RegisterRate, "new identities a minute from one address")
	fs.IntVar(&c.RegisterBurst, "register-burst", c.RegisterBurst, "new identities at once from one address")
	fs.DurationVar(&c.QuietAfter, "quiet-after", c.QuietAfter, "how long without a poll until an agent is shown as quiet")
	fs.DurationVar(&c.HiddenAfter, "hidden-after", c.HiddenAfter, "how long without a poll, while the hub was up, until lists leave an agent out")
	fs.BoolVar(&c.InviteRequired, "invite-required", false, "take in by invite only (see anet-hub invite); who is in needs none")
	cmdline.Credits(fs, &c.RegistrationGrant, "registration-grant", c.RegistrationGrant, "credits for an AID's first registration, once for ever; 0 for none")
	fs.Float64Var(&c.ReviewRate, "review-rate", c.ReviewRate, "reviews a minute from one address")
	fs.IntVar(&c.ReviewBurst, "review-burst", c.ReviewBurst, "reviews at once from one address")
	fs.Float64Var(&c.KeysLookupRate, "keys-lookup-rate", c.KeysLookupRate, "look-ups of keys a minute from one address that peers are asked for")
	fs.IntVar(&c.KeysLookupBurst, "keys-lookup-burst", c.KeysLookupBurst, "such look-ups at once from one address")
	fs.Float64Var(&c.SettleRate, "settle-rate", c.SettleRate, "payments a minute that one agent makes")
	fs.IntVar(&c.SettleBurst, "settle-burst", c.SettleBurst, "payments at once that one agent makes")
	fs.Float64Var(&c.PaymentRate, "payment-rate", c.PaymentRate, "payments a minute from one address that are looked at and move nothing")
	fs.IntVar(&c.PaymentBurst, "payment-burst", c.PaymentBurst, "such payments at once from one address")
	fs.Float64Var(&c.SettleAbroadRate, "settle-abroad-rate", c.SettleAbroadRate, "payments a minute from one address that peers are asked about and that move nothing")
	fs.IntVar(&c.SettleAbroadBurst, "settle-abroad-burst", c.SettleAbroadBurst, "such payments at once from one address")
	fs.Var(&c.Memory, "memory-budget", "bytes of request bodies and answers in flight")
	fs.StringSliceVar(&c.TrustedProxies, "trusted-proxy", c.TrustedProxies, "address ranges of proxies, whose word on a client's address is taken (repeatable)")
	fs.StringVar(&c.ProxyHeader, "proxy-header", c.ProxyHeader, "the header they say it in: X-Real-IP, X-Forwarded-For or Forwarded; no other is looked at")
	c.PeerFlags(fs)
	fs.StringVar(&c.Delivery, "federation-delivery", "", "forward mail to peers and take theirs: on or off (on as soon as there is a peer for it)")
	fs.StringVar(&c.Witness, "federation-witness", "", "attest every hour where the chains of peers end: on or off (on as soon as there is a peer)")
	fs.StringVar(&c.Discovery, "federation-discovery", "", "tell everyone who asks of the federated agents here, and learn from peers: on or off (on as soon as there is a peer for it)")
	fs.StringVar(&c.PeersFile, "peers-file", "", "file with peers, which stand beside those of anet-hub peer add")
	fs.Int64Var(&c.PeerAgents, "peer-agents", c.PeerAgents, "agents that one peer may teach")
	fs.Var(&c.PeerBytes, "peer-bytes", "bytes that what one peer teaches may take up")
	fs.BoolVar(&c.P2PPeers, "p2p-peers", false, "serve GET /p2p/peers, which lists the published addresses of all who are in lists")
}

// PeerFlags adds the flags of whatever calls peers.
func (c *Config) PeerFlags(fs *pflag.FlagSet) {
	fs.StringSliceVar(&c.PeerRanges, "peer-allow-range", nil, "address range in which peers may be although it is not the internet, with plain http as well (repeatable)")
}

// FromEnv sets every flag that the command line left alone from its variable:
// --relay-ttl is ANET_HUB_RELAY_TTL.
func FromEnv(fs *pflag.FlagSet, getenv func(string) string) error {
	var failed error
	fs.VisitAll(func(f *pflag.Flag) {
		name := "ANET_HUB_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		v := getenv(name)
		if f.Changed || v == "" || failed != nil {
			return
		}
		if err := fs.Set(f.Name, v); err != nil {
			failed = fmt.Errorf("%s: %w", name, err)
		}
	})
	return failed
}

// databaseURLs reads the URLs from where they may stand.
func (c *Config) databaseURLs(getenv func(string) string) error {
	var err error
	if c.DatabaseURL == "" {
		c.DatabaseURL, err = secret(c.DatabaseURLFile, getenv(EnvDatabaseURL))
	}
	if err == nil && c.DatabaseDirectFile != "" {
		c.DatabaseDirectURL, err = secret(c.DatabaseDirectFile, "")
	}
	return err
}

func secret(file, env string) (string, error) {
	if file == "" {
		return strings.TrimSpace(env), nil
	}
	b, err := os.ReadFile(file)
	return strings.TrimSpace(string(b)), err
}

func (c *Config) proxies() (out httpapi.Proxies, err error) {
	if out.Header, err = httpapi.ProxyHeader(c.ProxyHeader); err != nil {
		return out, fmt.Errorf("--proxy-header is %q: %w", c.ProxyHeader, err)
	}
	out.Trusted, err = ranges("--trusted-proxy", c.TrustedProxies)
	return out, err
}

// ranges reads address ranges; a single address is one, too.
func ranges(flag string, list []string) (out []netip.Prefix, err error) {
	for _, s := range list {
		p, err := netip.ParsePrefix(s)
		if addr, bad := netip.ParseAddr(s); err != nil && bad == nil {
			p, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s %q is no address range such as 10.0.0.0/8", flag, s)
		}
		out = append(out, p)
	}
	return out, nil
}

// Bytes is a size that reads "48MiB".
type Bytes int64

// Set reads a size.
func (b *Bytes) Set(s string) error {
	n, err := humanize.ParseBytes(s)
	if err != nil || n == 0 || n > 1<<62 {
		return fmt.Errorf("%q is no size such as 48MiB", s)
	}
	*b = Bytes(n)
	return nil
}

// String writes a size.
func (b *Bytes) String() string { return strings.ReplaceAll(humanize.IBytes(uint64(*b)), " ", "") }

// Type names it in the help.
func (b *Bytes) Type() string { return "size" }

// Complete fills in what the command line left open, variables and the database's
// URL from where it may stand, and refuses limits that cannot be.
func (c *Config) Complete(fs *pflag.FlagSet, getenv func(string) string) error {
	if err := FromEnv(fs, getenv); err != nil {
		return err
	}
	c.Notify = getenv(EnvNotify)
	if err := c.databaseURLs(getenv); err != nil {
		return err
	}
	if err := c.completeTLS(fs.Changed); err != nil {
		return err
	}
	return c.check()
}
